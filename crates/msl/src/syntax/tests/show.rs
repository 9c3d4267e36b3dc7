//! Trees as short text with every bracket written, to compare with in tests.

use crate::syntax::ast::*;

fn list<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
    items.iter().map(show).collect::<Vec<_>>().join(", ")
}

fn optional<T>(item: Option<&T>, before: &str, show: impl Fn(&T) -> String) -> String {
    item.map_or(String::new(), |item| format!("{before}{}", show(item)))
}

pub fn path(p: &Path) -> String {
    p.segments
        .iter()
        .map(segment)
        .collect::<Vec<_>>()
        .join("::")
}

fn segment(s: &PathSegment) -> String {
    let args = s.args.as_ref();
    format!(
        "{}{}",
        s.ident.name,
        optional(args, "", |a| template_args(a))
    )
}

fn template_args(args: &[TemplateArg]) -> String {
    let arg = |arg: &TemplateArg| match arg {
        TemplateArg::Type(t) => ty(t),
        TemplateArg::Expr(e) => format!("={}", expr(e)),
    };
    format!("<{}>", list(args, arg))
}

pub fn ty(t: &TypeExpr) -> String {
    match &t.kind {
        TypeExprKind::Path(p) => path(p),
        TypeExprKind::Auto => "auto".into(),
        TypeExprKind::Decltype(e) => format!("decltype({})", expr(e)),
        TypeExprKind::Pointer(to) => format!("ptr({})", ty(to)),
        TypeExprKind::Reference(to) => format!("ref({})", ty(to)),
        TypeExprKind::Array(of, length) => {
            format!(
                "array({}{})",
                ty(of),
                optional(length.as_deref(), ", ", expr)
            )
        }
        TypeExprKind::Qualified {
            inner,
            is_const,
            is_volatile,
            space,
        } => {
            let mut words = String::new();
            if let Some(space) = space {
                words += &format!("{space:?} ").to_lowercase();
            }
            words += if *is_const { "const " } else { "" };
            words += if *is_volatile { "volatile " } else { "" };
            words + &ty(inner)
        }
        TypeExprKind::Function(result, params) => {
            format!("fn({}) -> {}", list(params, ty), ty(result))
        }
        TypeExprKind::Expansion(inner) => format!("{}...", ty(inner)),
    }
}

pub fn expr(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Int(value, suffix) => format!(
            "{value}{}{}",
            if suffix.unsigned { "u" } else { "" },
            if suffix.long { "l" } else { "" }
        ),
        ExprKind::Float(value, FloatSuffix::Float) => format!("{value:?}"),
        ExprKind::Float(value, FloatSuffix::Half) => format!("{value:?}h"),
        ExprKind::Float(value, FloatSuffix::Bfloat) => format!("{value:?}bf"),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Nullptr => "nullptr".into(),
        ExprKind::String(text) => format!("{text:?}"),
        ExprKind::Path(p) => path(p),
        ExprKind::Unary(op, operand) => format!("({op:?} {})", expr(operand)),
        ExprKind::Binary(op, l, r) => format!("({} {op:?} {})", expr(l), expr(r)),
        ExprKind::Assign(None, l, r) => format!("({} = {})", expr(l), expr(r)),
        ExprKind::Assign(Some(op), l, r) => format!("({} {op:?}= {})", expr(l), expr(r)),
        ExprKind::Conditional(c, a, b) => format!("({} ? {} : {})", expr(c), expr(a), expr(b)),
        ExprKind::Call(f, args) => format!("{}({})", expr(f), list(args, expr)),
        ExprKind::Construct {
            ty: t,
            args,
            braced,
        } => {
            let mark = if *braced { "new{}" } else { "new" };
            format!("{mark} {}({})", ty(t), list(args, expr))
        }
        ExprKind::Cast(style, t, e) => format!("({style:?} {} <- {})", ty(t), expr(e)),
        ExprKind::Member {
            object,
            arrow,
            member,
        } => {
            let mark = if *arrow { "->" } else { "." };
            format!("{}{mark}{}", expr(object), segment(member))
        }
        ExprKind::Index(object, index) => format!("{}[{}]", expr(object), expr(index)),
        ExprKind::InitList(elements) => format!(
            "{{{}}}",
            list(elements, |(name, e)| {
                let name = optional(name.as_ref(), ".", |n| format!("{}=", n.name));
                name + &expr(e)
            })
        ),
        ExprKind::ArrayDesignator { first, last, value } => format!(
            "[{}{}]={}",
            expr(first),
            optional(last.as_deref(), "..", expr),
            expr(value)
        ),
        ExprKind::SizeofType(t) => format!("sizeof({})", ty(t)),
        ExprKind::SizeofExpr(e) => format!("sizeof_value({})", expr(e)),
        ExprKind::AlignofType(t) => format!("alignof({})", ty(t)),
        ExprKind::Comma(l, r) => format!("({}, {})", expr(l), expr(r)),
        ExprKind::Lambda(l) => format!(
            "lambda[{}{}{}]({}){} {}",
            if l.capture_by_copy { "=" } else { "" },
            if l.capture_by_reference { "&" } else { "" },
            list(&l.captures, |(n, by_ref)| format!(
                "{}{}",
                if *by_ref { "&" } else { "" },
                n.name
            )),
            list(&l.params, param),
            optional(l.result.as_ref(), " -> ", ty),
            block(&l.body)
        ),
        ExprKind::This => "this".into(),
        ExprKind::Expansion(e) => format!("{}...", expr(e)),
        ExprKind::SizeofPack(name) => format!("sizeof...({})", name.name),
    }
}

fn attributes(list_of: &[Attribute]) -> String {
    list_of
        .iter()
        .map(|a| {
            let args = if a.args.is_empty() {
                String::new()
            } else {
                format!("({})", list(&a.args, expr))
            };
            format!(" [[{}{args}]]", a.name.name)
        })
        .collect()
}

fn param(p: &Param) -> String {
    format!(
        "{}{}: {}{}{}",
        if p.is_pack { "..." } else { "" },
        p.name.as_ref().map_or("_", |n| &n.name),
        ty(&p.ty),
        attributes(&p.attributes),
        optional(p.default.as_ref(), " = ", expr)
    )
}

fn template(t: &Template) -> String {
    let one = |p: &TemplateParam| {
        let name = p.name.as_ref().map_or("_", |n| &n.name);
        let pack = if p.is_pack { "..." } else { "" };
        match &p.kind {
            TemplateParamKind::Type(d) => {
                format!("{pack}{name}{}", optional(d.as_ref(), " = ", ty))
            }
            TemplateParamKind::Value(t, d) => {
                format!(
                    "{pack}{name}: {}{}",
                    ty(t),
                    optional(d.as_ref(), " = ", expr)
                )
            }
            TemplateParamKind::Template(t) => format!("{pack}{name}: {}", template(t)),
        }
    };
    format!("template<{}> ", list(&t.params, one))
}

fn flags(pairs: &[(bool, &str)]) -> String {
    pairs
        .iter()
        .filter(|(set, _)| *set)
        .map(|(_, word)| format!("{word} "))
        .collect()
}

fn variable(v: &Variable) -> String {
    format!(
        "{}{}var {}{}{}: {}{}{}",
        optional(v.template.as_ref(), "", template),
        flags(&[
            (v.is_constexpr, "constexpr"),
            (v.is_static, "static"),
            (v.is_extern, "extern")
        ]),
        optional(v.owner.as_ref(), "", |o| path(o) + "::"),
        v.name.name,
        optional(v.specialization.as_ref(), "", |a| template_args(a)),
        ty(&v.ty),
        attributes(&v.attributes),
        optional(v.initial.as_ref(), " = ", expr)
    )
}

fn function(f: &Function) -> String {
    let initials = list(&f.member_initials, |(n, args)| {
        format!("{}({})", n.name, list(args, expr))
    });
    format!(
        "{}{}fn {}{}{}({}){}{}{}{}{}{}",
        optional(f.template.as_ref(), "", template),
        flags(&[
            (f.is_kernel, "kernel"),
            (f.is_constexpr, "constexpr"),
            (f.is_static, "static")
        ]),
        optional(f.owner.as_ref(), "", |o| path(o) + "::"),
        f.name.name,
        optional(f.specialization.as_ref(), "", |a| template_args(a)),
        list(&f.params, param),
        if f.is_const { " const" } else { "" },
        optional(f.object_space.as_ref(), " ", |s| format!("{s:?}")
            .to_lowercase()),
        optional(f.result.as_ref(), " -> ", ty),
        attributes(&f.attributes),
        if initials.is_empty() {
            String::new()
        } else {
            format!(" : {initials}")
        },
        match (&f.body, f.is_defaulted, f.is_deleted) {
            (Some(b), ..) => format!(" {}", block(b)),
            (None, true, _) => " = default".into(),
            (None, _, true) => " = delete".into(),
            _ => ";".into(),
        }
    )
}

pub fn item(i: &Item) -> String {
    match &i.kind {
        ItemKind::Function(f) => function(f),
        ItemKind::Variable(v) => variable(v) + ";",
        ItemKind::Struct(s) => format!(
            "{}{} {}{}{}{}{}",
            optional(s.template.as_ref(), "", template),
            if s.is_union { "union" } else { "struct" },
            s.name.as_ref().map_or("_", |n| &n.name),
            optional(s.specialization.as_ref(), "", |a| template_args(a)),
            if s.bases.is_empty() {
                String::new()
            } else {
                format!(" : {}", list(&s.bases, ty))
            },
            attributes(&s.attributes),
            if s.is_forward {
                ";".into()
            } else {
                format!(" {{ {} }}", joined(&s.members))
            }
        ),
        ItemKind::Enum(e) => format!(
            "enum {}{}{} {{ {} }}",
            if e.is_class { "class " } else { "" },
            e.name.as_ref().map_or("_", |n| &n.name),
            optional(e.underlying.as_ref(), ": ", ty),
            list(&e.enumerators, |(n, v)| format!(
                "{}{}",
                n.name,
                optional(v.as_ref(), " = ", expr)
            ))
        ),
        ItemKind::Alias {
            name,
            ty: t,
            template: header,
        } => format!(
            "{}type {} = {};",
            optional(header.as_ref(), "", template),
            name.name,
            ty(t)
        ),
        ItemKind::StaticAssert(e, message) => format!(
            "static_assert {}{};",
            expr(e),
            optional(message.as_ref(), ", ", |m| format!("{m:?}"))
        ),
        ItemKind::Namespace(name, items) => format!(
            "namespace {} {{ {} }}",
            name.as_ref().map_or("_", |n| &n.name),
            joined(items)
        ),
        ItemKind::UsingNamespace(p) => format!("using namespace {};", path(p)),
        ItemKind::UsingName(p) => format!("using {};", path(p)),
        ItemKind::Instantiation(f) => format!("instantiate {}", function(f)),
        ItemKind::Empty => ";".into(),
    }
}

fn joined(items: &[Item]) -> String {
    items.iter().map(item).collect::<Vec<_>>().join(" ")
}

fn block(b: &Block) -> String {
    let statements: Vec<_> = b.statements.iter().map(stmt).collect();
    format!("{{ {} }}", statements.join(" "))
}

pub fn stmt(s: &Stmt) -> String {
    match &s.kind {
        StmtKind::Empty => ";".into(),
        StmtKind::Expr(e) => format!("{};", expr(e)),
        StmtKind::Variables(list_of) => format!("{};", list(list_of, variable)),
        StmtKind::Item(i) => item(i),
        StmtKind::Block(b) => block(b),
        StmtKind::If {
            is_constexpr,
            condition,
            accept,
            reject,
        } => format!(
            "if{} {} {}{}",
            if *is_constexpr { " constexpr" } else { "" },
            expr(condition),
            stmt(accept),
            optional(reject.as_deref(), " else ", stmt)
        ),
        StmtKind::For {
            initial,
            condition,
            step,
            body,
        } => format!(
            "for ({} {}; {}) {}",
            initial.as_deref().map_or(";".into(), stmt),
            optional(condition.as_ref(), "", expr),
            optional(step.as_ref(), "", expr),
            stmt(body)
        ),
        StmtKind::RangeFor {
            variable: v,
            range,
            body,
        } => format!("for ({} in {}) {}", variable(v), expr(range), stmt(body)),
        StmtKind::While(c, b) => format!("while {} {}", expr(c), stmt(b)),
        StmtKind::DoWhile(b, c) => format!("do {} while {};", stmt(b), expr(c)),
        StmtKind::Switch { selector, arms } => {
            let arm = |a: &SwitchArm| {
                let labels = list(&a.labels, |l| l.as_ref().map_or("default".into(), expr));
                let body: Vec<_> = a.body.iter().map(stmt).collect();
                format!("[{labels}]: {}", body.join(" "))
            };
            let arms: Vec<_> = arms.iter().map(arm).collect();
            format!("switch {} {{ {} }}", expr(selector), arms.join(" "))
        }
        StmtKind::Break => "break;".into(),
        StmtKind::Continue => "continue;".into(),
        StmtKind::Return(e) => format!("return{};", optional(e.as_ref(), " ", expr)),
    }
}

/// All items of a tree, one a line.
pub fn unit(u: &TranslationUnit) -> String {
    u.items.iter().map(item).collect::<Vec<_>>().join("\n")
}
