// Points as squares that face the eye, cut to discs. After look.wgsl.

struct View {
    matrix: mat4x4<f32>,
    center: vec4<f32>,
    size: vec2<u32>,
    diameter: f32,
    first: u32,
    begin: u32,
    end: u32,
    rank: u32,
    step: u32,
}

@group(0) @binding(0) var<uniform> look: Look;
@group(0) @binding(1) var<uniform> view: View;

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) color: vec4<f32>,
    @location(1) at: vec2<f32>,
}

@vertex
fn vertex(@builtin(vertex_index) index: u32, @location(0) place: vec3<f32>, @location(1) value: f32) -> Corner {
    let at = vec2<f32>(f32(index & 1u), f32(index >> 1u)) * 2.0 - 1.0;
    var corner: Corner;
    let clip = view.matrix * vec4<f32>(place - view.center.xyz, 1.0);
    corner.color = colored(value) * look.opacity;
    corner.at = at;
    if !(clip.w > 0.0 && clip.z >= 0.0 && clip.z <= clip.w) {
        corner.position = vec4<f32>(2.0, 2.0, 2.0, 1.0);
        return corner;
    }
    // The distance from the eye, which is as precise far away as it is near; a quarter of the range for each rank.
    let depth = (clip.w / 128.0 + 3.0 - f32(view.rank)) * 0.25;
    corner.position = vec4<f32>(clip.xy + at * view.diameter / vec2<f32>(view.size) * clip.w, depth * clip.w, clip.w);
    return corner;
}

@fragment
fn fragment(corner: Corner) -> @location(0) vec4<f32> {
    // Small points stay squares: a disc of two pixels is one.
    if view.diameter >= 3.0 && dot(corner.at, corner.at) > 1.0 {
        discard;
    }
    return corner.color;
}
