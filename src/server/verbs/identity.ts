import { badRequest } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Registered } from '../registry/registry.ts'

/** The object's namespace must be that of the path, or left out. */
export function checkNamespace(target: Registered, object: KubeObject, namespace: string): void {
  if (!target.resource.namespaced) {
    delete object.metadata.namespace
    return
  }
  object.metadata.namespace ||= namespace
  if (object.metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
}

/** The object must name itself, and as the path does. */
export function checkName(object: KubeObject, name: string): void {
  const said = object.metadata.name
  if (!said) throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  if (said !== name) throw badRequest(`the name of the object (${said}) does not match the name on the URL (${name})`)
}
