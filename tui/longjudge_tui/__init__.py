"""The longjudge app: one workbench over the library, in the terminal."""
