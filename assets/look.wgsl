// How the points of a layer are coloured. Shared by both drawers.

struct Look {
    // When there are no values; premultiplied, as all colours here.
    color: vec4<f32>,
    // Where many points cover each other in Plane.
    dense: vec4<f32>,
    // A point without a value.
    missing: vec4<f32>,
    // The value of the first colour, one by the range, whether both are logarithms (base 2), how many categories there are; less than
    // 0 where a value is a colour.
    scale: vec4<f32>,
    // Whether there are values, whether density shows, how much of the colour is left, diameter in pixels.
    painted: u32,
    dense_shows: u32,
    opacity: f32,
    diameter: f32,
    // The id of the buffer's first point, and how many it has; width of the picture in pixels; rank of the layer.
    first: u32,
    count: u32,
    width: u32,
    rank: u32,
    // Eye-dome lighting: focal length in pixels, 0 for none; pixels to the nearest neighbours compared; height of the picture.
    focal: f32,
    reach: u32,
    height: u32,
    padding: u32,
    table: array<vec4<f32>, 256>,
}

fn colored(value: f32) -> vec4<f32> {
    if look.painted == 0u {
        return look.color;
    }
    // NaN by its bits: a comparison with itself may be optimised away.
    if (bitcast<u32>(value) & 0x7fffffffu) > 0x7f800000u {
        return look.missing;
    }
    if look.scale.w < 0.0 {
        let packed = u32(clamp(value, 0.0, 16777215.0));
        return vec4<f32>(f32(packed >> 16u), f32((packed >> 8u) & 255u), f32(packed & 255u), 255.0) / 255.0;
    }
    if look.scale.w > 0.0 {
        return look.table[u32(clamp(value, 0.0, 16777216.0)) % u32(look.scale.w)];
    }
    var at = value;
    if look.scale.z != 0.0 {
        at = log2(max(value, 1e-38));
    }
    return look.table[u32(clamp((at - look.scale.x) * look.scale.y, 0.0, 1.0) * 255.0 + 0.5)];
}
