import { cloneObject, jsonText } from '../../../api/json/index.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { Registered } from '../../registry/registry.ts'
import type { AdmissionOrigin } from '../admission.ts'
import { PendingAnswer } from './pending.ts'

/** Converted objects of each request, by target version and source object. */
const answers = new WeakMap<AdmissionOrigin, Map<string, KubeObject>>()

/**
 * Converts an object to another version. The result must not be changed: it may share parts with the object. Throws a
 * PendingAnswer while a conversion webhook has not responded.
 */
export function convert(object: KubeObject, from: Registered, to: Registered, origin: AdmissionOrigin): KubeObject {
  if (from === to) return object
  if (to.resource.conversion) return convertedByWebhook(object, to, origin)
  const { resource: source } = from
  return shownAs(source.storedAs ? source.storedAs.toStored(cloneObject(object)) : object, to)
}

/** Converts a stored object to one of its kind's versions. */
export function presentAs(stored: KubeObject, to: Registered, origin: AdmissionOrigin): KubeObject {
  const isConverted = to.resource.conversion && stored.apiVersion !== to.apiVersion
  return isConverted ? convertedByWebhook(stored, to, origin) : shownAs(stored, to)
}

function shownAs(stored: KubeObject, { apiVersion, resource }: Registered): KubeObject {
  const shown = resource.storedAs ? resource.storedAs.fromStored(stored) : stored
  return { ...shown, apiVersion, kind: resource.kind }
}

function convertedByWebhook(
  object: KubeObject,
  { apiVersion, resource }: Registered,
  origin: AdmissionOrigin,
): KubeObject {
  let known = answers.get(origin)
  if (!known) answers.set(origin, (known = new Map()))
  const kept = known
  const key = `${apiVersion} ${jsonText(object)}`
  const found = kept.get(key)
  if (found) return found
  throw new PendingAnswer(resource.conversion!.take(object).then((converted) => kept.set(key, converted)))
}
