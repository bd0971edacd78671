// Points as squares that face the eye, cut to discs.

struct Uniforms {
    matrix: mat4x4<f32>,
    center: vec4<f32>,
    color: vec4<f32>,
    weights: vec4<f32>,
    // Width, height and diameter in pixels; whether the magnitude is used.
    goal: vec4<f32>,
    viridis: array<vec4<f32>, 16>,
}

@group(0) @binding(0) var<uniform> u: Uniforms;

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) color: vec4<f32>,
    @location(1) at: vec2<f32>,
}

fn colored(position: vec3<f32>) -> vec4<f32> {
    if u.goal.w == 0.0 {
        return u.color;
    }
    let scaled = clamp(dot(u.weights, vec4<f32>(position, 1.0)), 0.0, 1.0) * 15.0;
    let below = u32(floor(scaled));
    return mix(u.viridis[below], u.viridis[min(below + 1u, 15u)], fract(scaled));
}

@vertex
fn vertex(@builtin(vertex_index) index: u32, @location(0) position: vec3<f32>) -> Corner {
    let at = vec2<f32>(f32(index & 1u), f32(index >> 1u)) * 2.0 - 1.0;
    var corner: Corner;
    let clip = u.matrix * vec4<f32>(position - u.center.xyz, 1.0);
    corner.position = clip + vec4<f32>(at * u.goal.z / u.goal.xy * clip.w, 0.0, 0.0);
    corner.color = colored(position);
    corner.at = at;
    return corner;
}

@fragment
fn fragment(corner: Corner) -> @location(0) vec4<f32> {
    // Small points stay squares: a disc of two pixels is one.
    if u.goal.z >= 3.0 && dot(corner.at, corner.at) > 1.0 {
        discard;
    }
    return corner.color;
}
