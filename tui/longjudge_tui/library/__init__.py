"""The library: the sessions on this computer, estimated and judged, several at once."""
