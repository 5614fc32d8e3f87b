import { deepEqual } from '../deep-equal.ts'
import type { ControllerRevision, PodTemplateSpec } from '../generated/types.ts'
import { sortKeys } from '../json/index.ts'
import type { Json } from '../object.ts'
import { DecodeError, decodeObject } from '../schema/index.ts'
import { defaultPodSpec } from './pod-defaults.ts'

/**
 * The `data` of a revision of a template: the patch that `kubectl rollout undo` sends to put it back, with its keys
 * sorted.
 */
export const templatePatch = (template: PodTemplateSpec): object =>
  sortKeys({ spec: { template: { ...template, $patch: 'replace' } } })

type Held = PodTemplateSpec & { $patch?: string }

/** The template that a revision holds. */
export function templateOf({ data }: Pick<ControllerRevision, 'data'>): PodTemplateSpec {
  const { $patch: _, ...template } = (data as { spec: { template: Held } }).spec.template
  return template
}

/**
 * Whether a revision holds a template. It does not matter that releases of Kubernetes write the same template in
 * other ways: those before 1.34 wrote `creationTimestamp: null`, and an older one leaves out defaults that it does
 * not know.
 */
export function holdsTemplate({ data }: Pick<ControllerRevision, 'data'>, template: PodTemplateSpec): boolean {
  const held = (data as { spec?: { template?: Held } } | undefined)?.spec?.template
  if (typeof held !== 'object' || held === null) return false
  if (deepEqual(held, { ...template, $patch: 'replace' })) return true
  const now = asStoredNow(held)
  return now !== undefined && deepEqual(now, asStoredNow(template))
}

/** Templates as this release stores them, by the objects that they were read from, which never change. */
const stored = new WeakMap<object, PodTemplateSpec | undefined>()

/** Undefined for what is no template. */
function asStoredNow(template: Held): PodTemplateSpec | undefined {
  if (!stored.has(template)) stored.set(template, decoded(template))
  return stored.get(template)
}

function decoded(template: Held): PodTemplateSpec | undefined {
  try {
    // The schema has no `$patch`, and drops it.
    const whole = decodeObject('PodTemplateSpec', template as unknown as Json).object as unknown as PodTemplateSpec
    defaultPodSpec(whole.spec)
    return whole
  } catch (e) {
    if (e instanceof DecodeError) return undefined
    throw e
  }
}
