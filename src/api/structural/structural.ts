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

/** What was found wrong with an object. Warnings are failed rules about what an update leaves as it was. */
export interface Judgement {
  errors: FieldError[]
  warnings: FieldError[]
}

/** Errors after which Kubernetes does not run the rules of x-kubernetes-validations. */
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

/** Everything that judges the values of one schema. */
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

/** A structural schema, ready to prune, fill in and judge objects. Each part is compiled when it is first used. */
export class StructuralSchema {
  #schema: Schema | undefined
  readonly #packed: Buffer
  #defaulter: Defaulter | undefined | null = null
  #judge: Judge | undefined
  #statusJudge: Judge | undefined

  /** A schema that nobody has used yet is kept compressed: of 50 KB, some 4 KB are left. */
  constructor(schema: Schema) {
    // A copy: what zlib answers is a part of a larger buffer.
    this.#packed = Buffer.from(deflateRawSync(jsonText(schema), { level: 1 }))
  }

  get schema(): Schema {
    return (this.#schema ??= readJson(inflateRawSync(this.#packed).toString()) as Schema)
  }

  /** Drops what the schema does not have; answers the paths of that, in order. */
  prune(object: unknown): string[] {
    const unknown: string[] = []
    prune(object, this.schema, true, (path) => unknown.push(path))
    return unknown.sort()
  }

  /** Fills in defaults, and drops null where it is not allowed. */
  fillIn(object: unknown): void {
    if (this.#defaulter === null) this.#defaulter = defaulterOf(this.schema)
    this.#defaulter?.(object)
  }

  /** Validates a whole object; `old` is what an update replaces. */
  judge(object: unknown, old?: unknown): Judgement {
    this.#judge ??= new Judge(this.schema, true)
    return this.#judge.judge(object, old, undefined)
  }

  /** Validates the status alone, as an update of it does. */
  judgeStatus(status: unknown, old: unknown): Judgement {
    const schema = this.schema.properties?.status
    if (!schema || status === undefined) return { errors: [], warnings: [] }
    this.#statusJudge ??= new Judge(schema, false)
    return this.#statusJudge.judge(status, old, Path.of('status'))
  }
}
