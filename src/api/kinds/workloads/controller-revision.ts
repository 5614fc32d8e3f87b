import { deepEqual } from '../../deep-equal.ts'
import type { ControllerRevision, PodTemplateSpec } from '../../generated/types.ts'
import { sortKeys } from '../../json/index.ts'
import type { Json } from '../../object.ts'
import { DecodeError, decodeObject } from '../../schema/index.ts'
import { defaultPodSpec } from '../pods/pod-defaults.ts'

/** The `data` of a template's revision: the patch that `kubectl rollout undo` sends to restore it, with sorted keys. */
export const templatePatch = (template: PodTemplateSpec): object =>
  sortKeys({ spec: { template: { ...template, $patch: 'replace' } } })

type Held = PodTemplateSpec & { $patch?: string }

/** The template of a revision. */
export function templateOf({ data }: Pick<ControllerRevision, 'data'>): PodTemplateSpec {
  const { $patch: _, ...template } = (data as { spec: { template: Held } }).spec.template
  return template
}

/**
 * True if a revision has this template. Differences between releases of Kubernetes are ignored: releases before 1.34
 * write `creationTimestamp: null`, and older ones omit defaults that they do not know.
 */
export function holdsTemplate({ data }: Pick<ControllerRevision, 'data'>, template: PodTemplateSpec): boolean {
  const held = (data as { spec?: { template?: Held } } | undefined)?.spec?.template
  if (typeof held !== 'object' || held === null) return false
  if (deepEqual(held, { ...template, $patch: 'replace' })) return true
  const now = asStoredNow(held)
  return now !== undefined && deepEqual(now, asStoredNow(template))
}

/** Normalized templates by the objects they were decoded from, which are immutable. */
const stored = new WeakMap<object, PodTemplateSpec | undefined>()

/** Undefined if the value is not a template. */
function asStoredNow(template: Held): PodTemplateSpec | undefined {
  if (!stored.has(template)) stored.set(template, decoded(template))
  return stored.get(template)
}

function decoded(template: Held): PodTemplateSpec | undefined {
  try {
    // The schema has no `$patch`, so decoding drops it.
    const whole = decodeObject('PodTemplateSpec', template as unknown as Json).object as unknown as PodTemplateSpec
    defaultPodSpec(whole.spec)
    return whole
  } catch (e) {
    if (e instanceof DecodeError) return undefined
    throw e
  }
}

/**
 * Counts the changes of a DaemonSet's template, for old clients. The server maintains it; a user can set it only at
 * creation.
 */
export const templateGenerationAnnotation = 'deprecated.daemonset.template.generation'
