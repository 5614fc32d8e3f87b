import { deepEqual } from '../../deep-equal.ts'
import { type FieldError, duplicate, forbidden, invalid, required } from '../../validation/field-error.ts'
import { Path } from '../../validation/path.ts'
import { perCallLimit } from '../run/program.ts'
import { toValue } from '../schema/json-values.ts'
import { type JsonSchema, schemaType } from '../schema/schema-types.ts'
import type { CelType } from '../types.ts'
import { CelError, Optional, type Value } from '../values.ts'
import { messageOf } from './message.ts'
import { errorPath } from './field-path.ts'
import { type CompiledRule, compileRule, rulesOf } from './rules.ts'
import { type Fields, isFields } from '../../object.ts'

/** Kubernetes' limit for all rules of one object. */
const perObjectLimit = 10_000_000

const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run'

/** A schema with rules on it or below it. Parts without rules are omitted. */
interface Checked {
  schema: JsonSchema
  type: CelType
  rules: readonly CompiledRule[]
  items?: Checked
  properties?: ReadonlyMap<string, Checked>
  values?: Checked
}

/** The old value that corresponds to a value. */
interface Old {
  /** The old value. Undefined if there is none, or if it cannot be correlated. */
  value: unknown
  /** True if the value, or the nearest enclosing value with an old value, is unchanged. Failures are then warnings. */
  isUnchanged: () => boolean
  /** True if all enclosing lists can be correlated. */
  isCorrelated: boolean
}

export interface ValidationOptions {
  /** The old version of the object, in an update. */
  old?: unknown
  budget?: number
  perCallLimit?: number
  /** As in Kubernetes, failures of unchanged parts are warnings. Default: true. */
  isRatcheting?: boolean
}

interface ValidationResult {
  errors: FieldError[]
  /** Failures that are ignored because the value is unchanged. */
  warnings: FieldError[]
  cost: number
}

/** The root of a resource has no path. */
type MaybePath = Path | undefined
/** Kubernetes' form of that path. */
const nowhere = Path.of('<nil>')
const childOf = (path: MaybePath, name: string): Path => path?.child(name) ?? Path.of(name)

function build(schema: JsonSchema, isResourceRoot: boolean): Checked | undefined {
  const type = schemaType(schema, isResourceRoot)
  if (!type) return undefined
  const given = [...rulesOf(schema), ...(schema.allOf ?? []).flatMap(rulesOf)]
  const checked: Checked = { schema, type, rules: given.map((rule) => compileRule(rule, type)) }
  const part = (inner: JsonSchema) => build(inner, inner['x-kubernetes-embedded-resource'] === true)
  const items = schema.items && part(schema.items)
  if (items) checked.items = items
  const properties = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const inner = part(property)
    return inner ? [[name, inner] as const] : []
  })
  if (properties.length) checked.properties = new Map(properties)
  const values = typeof schema.additionalProperties === 'object' ? part(schema.additionalProperties) : undefined
  if (values) checked.values = values
  return checked.rules.length || items || properties.length || values ? checked : undefined
}

/** One validation of one object. */
class Run {
  readonly errors: FieldError[] = []
  readonly warnings: FieldError[] = []
  readonly #limit: number
  readonly #budget: number
  #remaining: number
  isOver = false

  readonly #isRatcheting: boolean

  constructor(options: ValidationOptions) {
    this.#budget = options.budget ?? perObjectLimit
    this.#remaining = this.#budget
    this.#limit = options.perCallLimit ?? perCallLimit
    this.#isRatcheting = options.isRatcheting !== false
  }

  get cost(): number {
    return this.#budget - this.#remaining
  }

  /** Visits a value and all below it; yields before each rule, so that a caller can pause. */
  *visit(checked: Checked, value: unknown, old: Old, path: MaybePath): Generator<void> {
    if (value === undefined || value === null || this.isOver) return
    if (checked.rules.length) yield* this.#rules(checked, value, old, path)
    if (Array.isArray(value)) {
      if (checked.items) yield* this.#list(checked, checked.items, value, old, path)
    } else if (isFields(value)) yield* this.#fields(checked, value, old, path)
  }

  *#fields(checked: Checked, value: Fields, old: Old, path: MaybePath): Generator<void> {
    const before = isFields(old.value) ? old.value : undefined
    for (const [name, part] of Object.entries(value)) {
      const property = checked.properties?.get(name)
      const inner =
        property ??
        (checked.schema.properties && Object.hasOwn(checked.schema.properties, name) ? undefined : checked.values)
      if (!inner) continue
      const known = before && Object.hasOwn(before, name) ? before[name] : undefined
      yield* this.visit(
        inner,
        part,
        this.#below(old, known, part, true),
        property ? childOf(path, name) : (path ?? nowhere).key(name),
      )
      if (this.isOver) return
    }
  }

  /** The old value of a part. If it cannot be correlated, the part is unchanged if the enclosing value is. */
  #below(old: Old, known: unknown, part: unknown, canCorrelate: boolean): Old {
    if (!old.isCorrelated) return { ...old, value: undefined }
    const { isUnchanged } = old
    if (!canCorrelate || known === undefined) return { value: undefined, isUnchanged, isCorrelated: canCorrelate }
    return { value: known, isUnchanged: () => this.#isRatcheting && deepEqual(known, part), isCorrelated: true }
  }

  *#list(checked: Checked, items: Checked, value: unknown[], old: Old, path: MaybePath): Generator<void> {
    const keys =
      checked.schema['x-kubernetes-list-type'] === 'map'
        ? (checked.schema['x-kubernetes-list-map-keys'] ?? [])
        : undefined
    const keyOf = (element: unknown) =>
      isFields(element) ? JSON.stringify(keys!.map((key) => element[key] ?? null)) : ''
    const before =
      keys && Array.isArray(old.value) ? new Map(old.value.map((element) => [keyOf(element), element])) : undefined
    for (const [i, element] of value.entries()) {
      const known = before?.get(keyOf(element))
      yield* this.visit(
        items,
        element,
        this.#below(old, known, element, keys !== undefined),
        (path ?? nowhere).index(i),
      )
      if (this.isOver) return
    }
  }

  #stop(error: FieldError): void {
    this.errors.push(error)
    this.isOver = true
  }

  *#rules(checked: Checked, value: unknown, old: Old, base: MaybePath): Generator<void> {
    const path = base ?? nowhere
    const shownType = checked.schema.type ?? ''
    if (this.#remaining <= 0) return this.#stop(invalid(path, shownType, outOfBudget))
    const variables = this.#variables(checked, value, old)
    for (const compiled of checked.rules) {
      const { program, problem, rule } = compiled
      if (problem) this.errors.push(invalid(path, shownType, `rule compile error: ${problem.detail}`))
      if (!program || (compiled.usesOldSelf && old.value === undefined && !rule.optionalOldSelf)) continue
      yield
      const given =
        typeof variables === 'string'
          ? { error: variables, isCostExceeded: false, cost: 0 }
          : program.evaluate(rule.optionalOldSelf ? variables.optional : variables.plain, this.#limit)
      if (given.cost > this.#remaining) return this.#stop(invalid(path, shownType, outOfBudget))
      this.#remaining -= given.cost
      if (given.error !== undefined) this.#failure(given, rule, path, shownType)
      else if (given.value !== true)
        this.#refusal(compiled, checked, value, typeof variables === 'string' ? {} : variables.plain, old, base)
      if (this.isOver) return
    }
  }

  /** The variables of the rules of one value. Returns an error message if the data has another type. */
  #variables(
    checked: Checked,
    value: unknown,
    old: Old,
  ): { plain: Record<string, Value>; optional: Record<string, Value> } | string {
    try {
      const self = toValue(checked.type, value)
      const usesOld = checked.rules.some((rule) => rule.usesOldSelf)
      if (!usesOld) return { plain: { self }, optional: { self } }
      if (old.value === undefined || old.value === null)
        return { plain: { self }, optional: { self, oldSelf: Optional.none } }
      const oldSelf = toValue(checked.type, old.value)
      return { plain: { self, oldSelf }, optional: { self, oldSelf: new Optional(oldSelf) } }
    } catch (error) {
      if (error instanceof CelError) return error.message
      throw error
    }
  }

  #failure(
    { error, isCostExceeded }: { error: string; isCostExceeded: boolean },
    rule: CompiledRule['rule'],
    path: Path,
    type: string,
  ): void {
    const shown = (rule.message || rule.rule).trim()
    if (isCostExceeded) {
      return this.#stop(
        invalid(
          path,
          type,
          `'${error}': no further validation rules will be run due to call cost exceeds limit for rule: ${shown}`,
        ),
      )
    }
    const detail = error.startsWith('no such overload')
      ? `'${error}': call arguments did not match a supported operator, function or macro signature for rule: ${shown}`
      : `${error} evaluating rule: ${shown}`
    this.errors.push(invalid(path, type, detail))
  }

  #refusal(
    compiled: CompiledRule,
    checked: Checked,
    value: unknown,
    variables: Record<string, Value>,
    old: Old,
    path: MaybePath,
  ): void {
    const { rule } = compiled
    const at = errorPath(path, rule.fieldPath, checked.schema) ?? nowhere
    const type = checked.schema.type ?? ''
    const list = !compiled.usesOldSelf && old.isUnchanged() ? this.warnings : this.errors
    const message = messageOf(compiled, variables, this.#remaining, this.#limit)
    this.#remaining -= message.cost
    if (message.error !== undefined) {
      list.push(invalid(at, type, message.error))
      this.isOver = true
      return
    }
    list.push(errorFor(rule.reason, at, value, message.text))
  }
}

/** The error contains the value, unless it is an object or a list. */
function errorFor(reason: string | undefined, path: Path, value: unknown, detail: string): FieldError {
  const isShown = typeof value !== 'object'
  switch (reason) {
    case 'FieldValueForbidden':
      return forbidden(path, detail)
    case 'FieldValueRequired':
      return required(path, detail)
    case 'FieldValueDuplicate':
      return isShown ? duplicate(path, value) : { reason, field: path.toString(), message: 'Duplicate value' }
    default:
      return isShown
        ? invalid(path, value, detail)
        : { reason: 'FieldValueInvalid', field: path.toString(), message: `Invalid value: ${detail}` }
  }
}

/** The rules of a schema, compiled once, for any number of objects. */
export class RuleValidator {
  readonly #root: Checked | undefined

  /** `isResourceRoot`: the schema is that of a whole resource, which has apiVersion, kind and metadata. */
  constructor(schema: JsonSchema, isResourceRoot = true) {
    this.#root = build(schema, isResourceRoot)
  }

  get hasRules(): boolean {
    return this.#root !== undefined
  }

  /** Validates a value at `path`. A whole resource has no path. */
  validate(object: unknown, path?: Path, options: ValidationOptions = {}): ValidationResult {
    const steps = this.steps(object, path, options)
    for (;;) {
      const { done, value } = steps.next()
      if (done) return value
    }
  }

  /** Like `validate`, but yields before each rule, so that a server can handle other requests in between. */
  *steps(object: unknown, path?: Path, options: ValidationOptions = {}): Generator<void, ValidationResult> {
    const run = new Run(options)
    const hasOld = options.old !== undefined && options.old !== null
    const isUnchanged = () => hasOld && options.isRatcheting !== false && deepEqual(options.old, object)
    if (this.#root)
      yield* run.visit(this.#root, object, { value: options.old, isUnchanged, isCorrelated: hasOld }, path)
    return { errors: run.errors, warnings: run.warnings, cost: run.cost }
  }
}
