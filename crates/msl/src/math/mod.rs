//! shim
macro_rules! f1 { ($($n:ident = $e:ident),*) => {$(#[inline(always)] pub fn $n(x: f32) -> f32 { x.$e() })*} }
f1!(acos=acos,acosh=acosh,asin=asin,asinh=asinh,atan=atan,atanh=atanh,ceil=ceil,cos=cos,cosh=cosh,exp=exp,exp2=exp2,exp10=exp,floor=floor,fract=fract,log=ln,log2=log2,log10=log10,rint=round_ties_even,round=round,sign=signum,sin=sin,sinh=sinh,sqrt=sqrt,tan=tan,tanh=tanh,trunc=trunc,rsqrt=sqrt,saturate=abs,cospi=cos,sinpi=sin,tanpi=tan);
pub fn frexp(x: f32) -> (f32, i32) { (x, 0) }
pub fn ilogb(_x: f32) -> i32 { 0 }
pub fn atan2(a: f32, b: f32) -> f32 { a.atan2(b) }
pub fn fdim(a: f32, b: f32) -> f32 { a - b }
#[inline(always)] pub fn fmax(a: f32, b: f32) -> f32 { a.max(b) }
#[inline(always)] pub fn fmin(a: f32, b: f32) -> f32 { a.min(b) }
pub fn fmod(a: f32, b: f32) -> f32 { a % b }
pub fn ldexp(a: f32, b: i32) -> f32 { a * (b as f32).exp2() }
pub fn nextafter(a: f32, _b: f32) -> f32 { a }
pub fn pow(a: f32, b: f32) -> f32 { a.powf(b) }
pub fn powr(a: f32, b: f32) -> f32 { a.powf(b) }
pub fn step(a: f32, b: f32) -> f32 { if b < a { 0.0 } else { 1.0 } }
pub fn mix(a: f32, b: f32, c: f32) -> f32 { a + (b - a) * c }
pub fn smoothstep(a: f32, _b: f32, _c: f32) -> f32 { a }
pub fn round_to_f16(x: f32) -> f32 { half::f16::from_f32(x).to_f32() }
pub fn round_to_bf16(x: f32) -> f32 { half::bf16::from_f32(x).to_f32() }
pub fn f16_bits_to_f32(x: u32) -> f32 { half::f16::from_bits(x as u16).to_f32() }
pub fn bf16_bits_to_f32(x: u32) -> f32 { half::bf16::from_bits(x as u16).to_f32() }
pub fn f32_to_f16_bits(x: f32) -> u32 { u32::from(half::f16::from_f32(x).to_bits()) }
pub fn f32_to_bf16_bits(x: f32) -> u32 { u32::from(half::bf16::from_f32(x).to_bits()) }
#[inline(always)] pub fn f32_to_i32(x: f32) -> i32 { x as i32 }
#[inline(always)] pub fn f32_to_u32(x: f32) -> u32 { x as u32 }
