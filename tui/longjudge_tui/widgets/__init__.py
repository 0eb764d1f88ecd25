"""What both screens are made of."""
