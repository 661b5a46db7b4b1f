"""Texts in OpenCL C, built and run by a runtime for the CPU that is neither Warp's nor ours."""
