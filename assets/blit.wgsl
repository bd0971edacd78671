// Lays a texture into the viewport, pixel for pixel.

@group(0) @binding(0) var picture: texture_2d<f32>;

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) at: vec2<f32>,
}

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> Corner {
    let at = vec2<f32>(f32(index & 1u), f32(index >> 1u));
    var corner: Corner;
    corner.position = vec4<f32>(at * 2.0 - 1.0, 0.0, 1.0);
    corner.at = vec2<f32>(at.x, 1.0 - at.y);
    return corner;
}

@fragment
fn fragment(corner: Corner) -> @location(0) vec4<f32> {
    let size = vec2<f32>(textureDimensions(picture));
    let pixel = min(vec2<u32>(corner.at * size), vec2<u32>(size) - 1u);
    return textureLoad(picture, pixel, 0);
}
