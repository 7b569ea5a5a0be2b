"""Reading and writing on NVIDIA GPUs: plans run on a device in waves of chunks."""
