#![no_main]

warpscope_fuzz::program!("e57");
