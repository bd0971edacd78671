#![no_main]

warpscope_fuzz::program!("config");
