import { matcherOf } from '../cel/index.ts'
import { deepEqual } from '../deep-equal.ts'
import { isInt64 } from '../numbers/int64.ts'
import type { Path } from '../validation/path.ts'
import { correlate, correlateItems, pathAt, pathIn } from './correlate.ts'
import type { Findings } from './findings.ts'
import { formatCheck } from './formats.ts'
import { type Schema, isIntOrString } from './schema.ts'
import { type Fields, isFields } from '../object.ts'

/**
 * Validates a value. `old` is the corresponding value before an update, whose unchanged parts are not validated again.
 * Undefined if there is none.
 */
export type Check = (value: unknown, old: unknown, path: Path | undefined, found: Findings) => void

/** The JSON schema type of a value. */
function typeOf(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  switch (typeof value) {
    case 'number':
      return Number.isInteger(value) ? 'integer' : 'number'
    case 'bigint':
      return 'integer'
    default:
      return typeof value
  }
}

/** Returns the validation of a schema. Its parts are compiled when a value first needs them. */
export function checkOf(schema: Schema): Check {
  let checks: Check[] | undefined
  return (value, old, path, found) => {
    if (old !== undefined && deepEqual(value, old)) return
    checks ??= compile(schema)
    if (value === null && schema.nullable) return
    for (const check of checks) check(value, old, path, found)
  }
}

function compile(schema: Schema): Check[] {
  const checks: Check[] = []
  const add = (check: Check | undefined) => {
    if (check) checks.push(check)
  }
  add(typeCheck(schema))
  add(junctors(schema))
  add(textCheck(schema))
  add(formatOf(schema))
  add(numberCheck(schema))
  add(listCheck(schema))
  add(enumCheck(schema))
  add(objectCheck(schema))
  return checks
}

function typeCheck(schema: Schema): Check | undefined {
  const types = isIntOrString(schema) ? ['integer', 'string'] : schema.type ? [schema.type] : []
  if (types.length === 0) return undefined
  const wanted = types.join()
  const isInteger = wanted === 'integer'
  return (value, _old, path, found) => {
    const type = typeOf(value)
    if (types.includes(type) || (type === 'integer' && wanted === 'number')) {
      if (isInteger) integerRange(value as number | bigint, schema.format, path, found)
      return
    }
    found.type(path, wanted, type)
    if (isInteger && type === 'number') found.whole(`Checked value must be of type integer (default format) in ${path}`)
  }
}

function integerRange(
  value: number | bigint,
  format: string | undefined,
  path: Path | undefined,
  found: Findings,
): void {
  const isLong = typeof value === 'bigint' ? !isInt64(value) : !Number.isSafeInteger(value) && !isInt64(BigInt(value))
  const isOver = isLong || (format === 'int32' && (value > 2147483647 || value < -2147483648))
  if (!isOver) return
  if (isLong) found.type(path, format || 'int64', 'float64')
  found.whole(
    `Checked value must be of type integer${format ? ` with format ${format}` : ' (default format)'} in ${path}`,
  )
}

const passes = (check: Check, value: unknown, path: Path | undefined, found: Findings): Findings => {
  const trial = found.apart()
  check(value, undefined, path, trial)
  return trial
}

function junctors(schema: Schema): Check | undefined {
  // For an int-or-string this alternative only repeats the type.
  const isPlain = (parts: Schema[] | undefined) =>
    parts?.length === 2 && parts[0]!.type === 'integer' && parts[1]!.type === 'string'
  const any = isIntOrString(schema) && isPlain(schema.anyOf) ? [] : (schema.anyOf ?? []).map(checkOf)
  const parts = (schema.allOf ?? []).filter((part) => !(isIntOrString(schema) && isPlain(part.anyOf)))
  const all = parts.map(checkOf)
  const one = (schema.oneOf ?? []).map(checkOf)
  const not = schema.not && checkOf(schema.not)
  if (any.length + all.length + one.length === 0 && !not) return undefined
  return (value, old, path, found) => {
    if (any.length) checkAny(any, value, path, found)
    if (one.length) checkOne(one, value, path, found)
    if (all.length) checkAll(all, value, old, path, found)
    if (not && passes(not, value, path, found).isEmpty)
      found.whole(`"${path ?? ''}" must not validate the schema (not)`)
  }
}

function checkAny(any: Check[], value: unknown, path: Path | undefined, found: Findings): void {
  let first: Findings | undefined
  for (const check of any) {
    const trial = passes(check, value, path, found)
    if (trial.isEmpty) return
    first ??= trial
  }
  found.whole(`"${path ?? ''}" must validate at least one schema (anyOf)`)
  found.take(first!)
}

function checkOne(one: Check[], value: unknown, path: Path | undefined, found: Findings): void {
  const trials = one.map((check) => passes(check, value, path, found))
  const valid = trials.filter((trial) => trial.isEmpty).length
  if (valid === 1) return
  const how = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`
  found.whole(`"${path ?? ''}" must validate one and only one schema (oneOf). ${how}`)
  if (valid === 0) found.take(trials[0]!)
}

function checkAll(all: Check[], value: unknown, old: unknown, path: Path | undefined, found: Findings): void {
  const before = found.errors.length
  for (const check of all) check(value, old, path, found)
  if (found.errors.length > before) found.whole(`"${path ?? ''}" must validate all the schemas (allOf)`)
}

/** The number of characters of a text, counted as in Go. */
function lengthOf(text: string): number {
  let length = text.length
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0xd800 && code < 0xdc00) length--
  }
  return length
}

function textCheck(schema: Schema): Check | undefined {
  const { minLength, maxLength, pattern } = schema
  if (minLength === undefined && maxLength === undefined && !pattern) return undefined
  const matches = pattern ? matcherOf(pattern) : undefined
  return (value, _old, path, found) => {
    if (typeof value !== 'string') return
    // As in Kubernetes, only the first problem of a text is reported.
    if (maxLength !== undefined && lengthOf(value) > maxLength) found.tooLong(path, maxLength)
    else if (minLength !== undefined && lengthOf(value) < minLength)
      found.invalid(path, value, `should be at least ${minLength} chars long`)
    else {
      const isMatch = matches?.(value)
      if (isMatch === false) found.invalid(path, value, `should match '${pattern}'`)
      else if (isMatch === 'too long') found.invalid(path, value, `is too long to be matched by '${pattern}'`)
    }
  }
}

function formatOf({ format }: Schema): Check | undefined {
  const fits = format ? formatCheck(format) : undefined
  if (!fits) return undefined
  return (value, _old, path, found) => {
    if (typeof value === 'string' && !fits(value)) found.type(path, format!, value)
  }
}

function numberCheck(schema: Schema): Check | undefined {
  const { minimum, maximum, multipleOf, exclusiveMinimum, exclusiveMaximum } = schema
  if (minimum === undefined && maximum === undefined && !multipleOf) return undefined
  return (value, _old, path, found) => {
    if (typeof value !== 'number' && typeof value !== 'bigint') return
    if (multipleOf && !isMultiple(Number(value), multipleOf))
      found.invalid(path, value, `should be a multiple of ${multipleOf}`)
    if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
      found.invalid(path, value, `should be less than ${exclusiveMaximum ? '' : 'or equal to '}${maximum}`)
    }
    if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
      found.invalid(path, value, `should be greater than ${exclusiveMinimum ? '' : 'or equal to '}${minimum}`)
    }
  }
}

function isMultiple(value: number, of: number): boolean {
  const times = value / of
  return Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times))
}

function listCheck(schema: Schema): Check | undefined {
  const { minItems, maxItems, items } = schema
  if (minItems === undefined && maxItems === undefined && !items) return undefined
  const check = items && checkOf(items)
  return (value, old, path, found) => {
    if (!Array.isArray(value)) return
    if (check) {
      const oldOf = correlateItems(schema, old)
      for (let i = 0; i < value.length; i++) check(value[i], oldOf(value[i]), pathAt(path, i), found)
    }
    if (minItems !== undefined && value.length < minItems)
      found.invalid(path, value.length, `should have at least ${minItems} items`)
    if (maxItems !== undefined && value.length > maxItems) found.tooMany(path, value.length, maxItems)
  }
}

function enumCheck({ enum: allowed }: Schema): Check | undefined {
  if (!allowed?.length) return undefined
  return (value, _old, path, found) => {
    if (!allowed.some((one) => deepEqual(one, value))) found.unsupported(path, value, allowed)
  }
}

function objectCheck(schema: Schema): Check | undefined {
  const { minProperties, maxProperties, additionalProperties } = schema
  const needed = schema.required ?? []
  const byName = new Map(Object.entries(schema.properties ?? {}).map(([name, property]) => [name, checkOf(property)]))
  const rest = typeof additionalProperties === 'object' ? checkOf(additionalProperties) : undefined
  if (minProperties === undefined && maxProperties === undefined && !needed.length && !byName.size && !rest)
    return undefined
  return (value, old, path, found) => {
    if (!isFields(value)) return
    const count = minProperties === undefined && maxProperties === undefined ? 0 : Object.keys(value).length
    if (minProperties !== undefined && count < minProperties) {
      found.invalid(path, count, `should have at least ${minProperties} properties`)
    }
    if (maxProperties !== undefined && count > maxProperties) found.tooMany(path, count, maxProperties)
    for (const name of needed) if (value[name] === undefined) found.required(pathIn(path, name))
    checkFields(value, old, path, found)
  }
  function checkFields(value: Fields, old: unknown, path: Path | undefined, found: Findings): void {
    for (const name in value) {
      const check = byName.get(name) ?? rest
      check?.(value[name], correlate(old, name), pathIn(path, name), found)
    }
  }
}
