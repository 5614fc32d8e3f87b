import { cloneObject } from '../json/index.ts'
import { type Fields, type Json, isFields } from '../object.ts'
import { type Schema, valuesOf } from './schema.ts'

/** Sets defaults in a value, in place. */
export type Defaulter = (value: unknown) => void

const isNullRefused = (value: unknown, schema: Schema): boolean => value === null && schema.nullable !== true

const copyOf = (schema: Schema): Json => {
  const value = schema.default as Json
  return typeof value === 'object' && value !== null ? cloneObject(value) : value
}

const hasDefault = (schema: Schema): boolean => schema.default !== undefined && schema.default !== null

/**
 * Returns the function that sets defaults below a value. It also removes null where it is neither allowed nor replaced
 * by a default. Undefined if the schema has nothing to set.
 */
export function defaulterOf(schema: Schema): Defaulter | undefined {
  if (schema.items) return listDefaulter(schema.items)
  const values = valuesOf(schema)
  if (values) return mapDefaulter(values)
  return schema.properties ? structDefaulter(schema.properties) : undefined
}

function listDefaulter(items: Schema): Defaulter | undefined {
  const inner = defaulterOf(items)
  if (!inner && !hasDefault(items)) return undefined
  return (value) => {
    if (!Array.isArray(value)) return
    for (let i = 0; i < value.length; i++) {
      if (hasDefault(items) && isNullRefused(value[i], items)) value[i] = copyOf(items)
      inner?.(value[i])
    }
  }
}

function mapDefaulter(values: Schema): Defaulter {
  const inner = defaulterOf(values)
  return (value) => {
    if (!isFields(value)) return
    for (const key in value) {
      if (isNullRefused(value[key], values)) {
        if (hasDefault(values)) value[key] = copyOf(values)
        else delete value[key]
      }
      inner?.(value[key])
    }
  }
}

interface Step {
  name: string
  schema: Schema
  hasDefault: boolean
  inner: Defaulter | undefined
}

function structDefaulter(properties: Record<string, Schema>): Defaulter {
  const steps: Step[] = Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    hasDefault: hasDefault(schema),
    inner: defaulterOf(schema),
  }))
  return (value) => {
    if (isFields(value)) for (const step of steps) fill(value, step)
  }
}

function fill(value: Fields, { name, schema, hasDefault: has, inner }: Step): void {
  const given = value[name]
  if (given === undefined || isNullRefused(given, schema)) {
    if (has) value[name] = copyOf(schema)
    else {
      if (given === null) delete value[name]
      return
    }
  }
  inner?.(value[name])
}
