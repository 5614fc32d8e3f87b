/** The path of a field in an object. The text is built only if an error is reported. */
export class Path {
  readonly #parent: Path | undefined
  readonly #step: string | number
  readonly #kind: 'child' | 'index' | 'key'

  private constructor(parent: Path | undefined, step: string | number, kind: 'child' | 'index' | 'key') {
    this.#parent = parent
    this.#step = step
    this.#kind = kind
  }

  /** The path of a top-level field, or of nested fields given outermost first. */
  static of(first: string, ...rest: string[]): Path {
    let path = new Path(undefined, first, 'child')
    for (const further of rest) path = new Path(path, further, 'child')
    return path
  }

  /** `spec` → `spec.template.spec`. */
  child(name: string, ...rest: string[]): Path {
    let path = new Path(this, name, 'child')
    for (const further of rest) path = new Path(path, further, 'child')
    return path
  }

  /** `spec.containers` → `spec.containers[2]`. */
  index(i: number): Path {
    return new Path(this, i, 'index')
  }

  /** `metadata.labels` → `metadata.labels[app]`. */
  key(key: string): Path {
    return new Path(this, key, 'key')
  }

  toString(): string {
    const before = this.#parent?.toString() ?? ''
    if (this.#kind !== 'child') return `${before}[${this.#step}]`
    return before === '' ? String(this.#step) : `${before}.${this.#step}`
  }
}
