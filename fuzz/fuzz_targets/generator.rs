#![no_main]

warpscope_fuzz::program!("generator");
