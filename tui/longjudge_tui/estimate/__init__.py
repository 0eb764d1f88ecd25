"""What judging several sessions comes to, and the ways to begin it: live, a sample, as a batch."""
