import { deepEqual } from '../../api/deep-equal.ts'
import type { Schema } from '../../api/structural/index.ts'

const flags = ['nullable', 'x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const

/** True if objects that are stored look different by a new schema: by defaults, or by what is dropped. */
export function readsDiffer(before: Schema, after: Schema): boolean {
  if (!deepEqual(before.default, after.default)) return true
  if (flags.some((flag) => Boolean(before[flag]) !== Boolean(after[flag]))) return true
  if (Boolean(before.items) !== Boolean(after.items)) return true
  if (before.items && readsDiffer(before.items, after.items!)) return true
  const [values, next] = [before.additionalProperties, after.additionalProperties]
  if (typeof values !== typeof next) return true
  if (typeof values === 'object' && readsDiffer(values, next as Schema)) return true
  const properties = after.properties ?? {}
  for (const [name, property] of Object.entries(before.properties ?? {})) {
    if (!Object.hasOwn(properties, name) || readsDiffer(property, properties[name]!)) return true
  }
  return Object.entries(properties).some(([name, property]) => !before.properties?.[name] && fillsIn(property))
}

/** What is new changes an object that lacks it only by a default of its own. */
const fillsIn = (schema: Schema): boolean => schema.default !== undefined
