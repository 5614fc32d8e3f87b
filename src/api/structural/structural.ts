import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { RuleValidator, hasRules } from '../cel/index.ts'
import { jsonText, readJson } from '../json/index.ts'
import type { FieldError } from '../validation/field-error.ts'
import { Path } from '../validation/path.ts'
import { defaulterOf } from './defaulting.ts'
import { embeddedCheckOf } from './embedded.ts'
import { Findings } from './findings.ts'
import { listCheckOf } from './list-types.ts'
import { prune } from './prune.ts'
import type { Schema } from './schema.ts'
import { checkOf } from './validate.ts'

/** The result of the rules of an object. Warnings are failed rules for values that an update does not change. */
export interface Judgement {
  errors: FieldError[]
  warnings: FieldError[]
}

/** Errors after which Kubernetes does not evaluate x-kubernetes-validations. */
const blocking: ReadonlySet<FieldError['reason']> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTypeInvalid',
  'FieldValueTooMany',
])

const notChecked: FieldError = {
  reason: 'FieldValueInvalid',
  field: '<nil>',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
}

/** Returns a function that makes a value at its first call. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** A structural schema that prunes, defaults and validates objects. Each part is compiled at its first use. */
export class StructuralSchema {
  #schema: Schema | undefined
  readonly #packed: Buffer
  readonly #defaulter = once(() => defaulterOf(this.schema))
  readonly #check = once(() => checkOf(this.schema))
  readonly #statusCheck = once(() => {
    const status = this.schema.properties?.status
    return status && checkOf(status)
  })
  readonly #embedded = once(() => embeddedCheckOf(this.schema))
  readonly #lists = once(() => listCheckOf(this.schema))
  readonly #rules = once(() => (hasRules(this.schema) ? new RuleValidator(this.schema, true) : undefined))

  /** An unused schema is stored compressed: 50 KB become about 4 KB. */
  constructor(schema: Schema) {
    // A copy, because zlib returns a view of a larger buffer.
    this.#packed = Buffer.from(deflateRawSync(jsonText(schema), { level: 1 }))
  }

  get schema(): Schema {
    return (this.#schema ??= readJson(inflateRawSync(this.#packed).toString()) as Schema)
  }

  /** Drops fields that are not in the schema. Returns their paths in order. */
  prune(object: unknown): string[] {
    const unknown: string[] = []
    prune(object, this.schema, true, (path) => unknown.push(path))
    return unknown.sort()
  }

  /** Sets defaults, and removes null where it is not allowed. */
  fillIn(object: unknown): void {
    this.#defaulter()?.(object)
  }

  /** Validates types, limits and formats. `old` is the previous version in an update. */
  validate(object: unknown, old?: unknown): FieldError[] {
    const found = new Findings()
    this.#check()(object, old, undefined, found)
    return found.errors
  }

  /** Like `validate`, for the status only. */
  validateStatus(status: unknown, old?: unknown): FieldError[] {
    const check = this.#statusCheck()
    if (!check || status === undefined) return []
    const found = new Findings(Path.of('status'))
    check(status, old, undefined, found)
    return found.errors
  }

  /** Validates type and metadata of embedded resources. */
  validateEmbedded(object: unknown): FieldError[] {
    const errors: FieldError[] = []
    this.#embedded()?.(object, undefined, errors)
    return errors
  }

  /** Finds duplicate items in lists of type set and map. An update may keep them, and may then add others. */
  validateLists(object: unknown, old?: unknown): FieldError[] {
    const check = this.#lists()
    if (!check) return []
    const errors: FieldError[] = []
    check(object, undefined, errors)
    if (errors.length === 0 || old === undefined) return errors
    const before: FieldError[] = []
    check(old, undefined, before)
    return before.length ? [] : errors
  }

  /**
   * Evaluates the rules of x-kubernetes-validations, unless the errors `found` prevent it. Yields before each rule, so
   * that a server can handle other requests in between. Undefined if there are no rules.
   */
  evaluateRules(object: unknown, old: unknown, found: readonly FieldError[]): Generator<void, Judgement> | undefined {
    const rules = this.#rules()
    return rules && evaluated(rules, object, old, found)
  }
}

function* evaluated(
  rules: RuleValidator,
  object: unknown,
  old: unknown,
  found: readonly FieldError[],
): Generator<void, Judgement> {
  if (found.some((error) => blocking.has(error.reason))) return { errors: [notChecked], warnings: [] }
  return yield* rules.steps(object, undefined, old === undefined ? {} : { old })
}
