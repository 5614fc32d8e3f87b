import { cloneObject, jsonText } from '../../../api/json/index.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { Registered } from '../../registry/registry.ts'
import type { AdmissionOrigin } from '../admission.ts'
import { PendingAnswer } from './pending.ts'

/** The answers of conversion webhooks, by request: version and object that were asked for. */
const answers = new WeakMap<AdmissionOrigin, Map<string, KubeObject>>()

/**
 * An object of a kind in another of its versions, which must not be changed: it may share parts with the object. Throws a PendingAnswer where a
 * webhook converts it and has not been asked yet.
 */
export function convert(object: KubeObject, from: Registered, to: Registered, origin: AdmissionOrigin): KubeObject {
  if (from === to) return object
  if (to.resource.conversion) return convertedByWebhook(object, to, origin)
  const { resource: source } = from
  return shownAs(source.storedAs ? source.storedAs.toStored(cloneObject(object)) : object, to)
}

/** A stored object in one of the versions of its kind. */
export function presentAs(stored: KubeObject, to: Registered, origin: AdmissionOrigin): KubeObject {
  const isConverted = to.resource.conversion && stored.apiVersion !== to.apiVersion
  return isConverted ? convertedByWebhook(stored, to, origin) : shownAs(stored, to)
}

function shownAs(stored: KubeObject, { apiVersion, resource }: Registered): KubeObject {
  const shown = resource.storedAs ? resource.storedAs.fromStored(stored) : stored
  return { ...shown, apiVersion, kind: resource.kind }
}

function convertedByWebhook(object: KubeObject, { apiVersion, resource }: Registered, origin: AdmissionOrigin): KubeObject {
  let known = answers.get(origin)
  if (!known) answers.set(origin, (known = new Map()))
  const kept = known
  const key = `${apiVersion} ${jsonText(object)}`
  const found = kept.get(key)
  if (found) return found
  throw new PendingAnswer(resource.conversion!.take(object).then((converted) => kept.set(key, converted)))
}
