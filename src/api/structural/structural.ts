import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { RuleValidator, hasRules } from '../cel/index.ts'
import { jsonText, readJson } from '../json/index.ts'
import type { FieldError } from '../validation/field-error.ts'
import { Path } from '../validation/path.ts'
import { type Defaulter, defaulterOf } from './defaulting.ts'
import { type EmbeddedCheck, embeddedCheckOf } from './embedded.ts'
import { Findings } from './findings.ts'
import { type ListCheck, listCheckOf } from './list-types.ts'
import { prune } from './prune.ts'
import type { Schema } from './schema.ts'
import { type Check, checkOf } from './validate.ts'

/** The validation result of an object. Warnings are failed rules for values that an update does not change. */
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

/** All validations for one schema. */
class Judge {
  readonly #check: Check
  readonly #embedded: EmbeddedCheck | undefined
  readonly #lists: ListCheck | undefined
  readonly #rules: RuleValidator | undefined

  constructor(schema: Schema, isRoot: boolean) {
    this.#check = checkOf(schema)
    this.#embedded = embeddedCheckOf(schema)
    this.#lists = listCheckOf(schema)
    this.#rules = hasRules(schema) ? new RuleValidator(schema, isRoot) : undefined
  }

  judge(value: unknown, old: unknown, path: Path | undefined): Judgement {
    const found = new Findings(path)
    this.#check(value, old, undefined, found)
    const { errors } = found
    this.#embedded?.(value, path, errors)
    this.#lists?.(value, old, path, errors)
    if (!this.#rules) return { errors, warnings: [] }
    if (errors.some((error) => blocking.has(error.reason))) return { errors: [...errors, notChecked], warnings: [] }
    const judged = this.#rules.validate(value, path, old === undefined ? {} : { old })
    return { errors: [...errors, ...judged.errors], warnings: judged.warnings }
  }
}

/** A structural schema that prunes, defaults and validates objects. Each part is compiled at its first use. */
export class StructuralSchema {
  #schema: Schema | undefined
  readonly #packed: Buffer
  #defaulter: Defaulter | undefined | null = null
  #judge: Judge | undefined
  #statusJudge: Judge | undefined

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
    if (this.#defaulter === null) this.#defaulter = defaulterOf(this.schema)
    this.#defaulter?.(object)
  }

  /** Validates an object. `old` is its previous version in an update. */
  judge(object: unknown, old?: unknown): Judgement {
    this.#judge ??= new Judge(this.schema, true)
    return this.#judge.judge(object, old, undefined)
  }

  /** Validates the status only, for an update of the status. */
  judgeStatus(status: unknown, old: unknown): Judgement {
    const schema = this.schema.properties?.status
    if (!schema || status === undefined) return { errors: [], warnings: [] }
    this.#statusJudge ??= new Judge(schema, false)
    return this.#statusJudge.judge(status, old, Path.of('status'))
  }
}
