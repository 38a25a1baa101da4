"""What was changed lately on this machine, out of what each part of it keeps."""
