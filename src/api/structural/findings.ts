import {
  type FieldError,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from '../validation/field-error.ts'
import { Path } from '../validation/path.ts'
import { quoteValue } from '../validation/field-error.ts'

/** Kubernetes' path for errors about the whole value. */
const nowhere = '<nil>'

/**
 * Validation errors of a value, with the messages of kube-openapi as the API server shows them. A message has the path
 * from the value; the error's field also has the path of the value.
 */
export class Findings {
  readonly errors: FieldError[] = []
  readonly #base: Path | undefined

  constructor(base?: Path) {
    this.#base = base
  }

  get isEmpty(): boolean {
    return this.errors.length === 0
  }

  /** Creates an empty collection for a trial whose errors may be discarded. */
  apart(): Findings {
    return new Findings(this.#base)
  }

  take(other: Findings): void {
    this.errors.push(...other.errors)
  }

  type(path: Path | undefined, wanted: string, found: string): void {
    this.errors.push(
      typeInvalid(this.#at(path), found, `${nameOf(path)} in body must be of type ${wanted}: ${quoteValue(found)}`),
    )
  }

  invalid(path: Path | undefined, value: unknown, saying: string): void {
    this.errors.push(invalid(this.#at(path), value, `${nameOf(path)} in body ${saying}`))
  }

  required(path: Path | undefined): void {
    this.errors.push(required(this.#at(path)))
  }

  unsupported(path: Path | undefined, value: unknown, allowed: readonly unknown[]): void {
    this.errors.push(
      notSupported(
        this.#at(path),
        value,
        allowed.map((one) => (typeof one === 'string' ? one : quoteValue(one))),
      ),
    )
  }

  tooLong(path: Path | undefined, max: number): void {
    this.errors.push(tooLong(this.#at(path), max))
  }

  tooMany(path: Path | undefined, actual: number, max: number): void {
    this.errors.push(tooMany(this.#at(path), actual, max))
  }

  /** Adds an error about the whole value, which has no field. */
  whole(saying: string): void {
    this.errors.push({
      reason: 'FieldValueInvalid',
      field: this.#base?.toString() ?? nowhere,
      message: `Invalid value: "": ${saying}`,
    })
  }

  #at(path: Path | undefined): Path {
    if (!this.#base) return path ?? Path.of(nowhere)
    return path ? this.#base.child(path.toString()) : this.#base
  }
}

const nameOf = (path: Path | undefined): string => path?.toString() ?? ''
