#![no_main]

warpscope_fuzz::program!("hdf5");
