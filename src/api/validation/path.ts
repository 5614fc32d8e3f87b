/** Where in an object a field stands. Cheap to make: the text is built only when an error is reported. */
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
    return new Path(undefined, first, 'child').child(...rest)
  }

  /** `spec` → `spec.template.spec`. */
  child(...names: string[]): Path {
    return names.reduce<Path>((parent, name) => new Path(parent, name, 'child'), this)
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
