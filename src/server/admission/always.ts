import { isAlreadyExists, notFound } from '../../api/errors.ts'
import type { Namespace } from '../../api/generated/types.ts'
import { namespaces } from '../resources/core/namespaces.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { refusal } from './refusal.ts'

/** Admits every request. Deprecated in Kubernetes, which still accepts the name. */
export const alwaysAdmit: AdmissionPlugin = { name: 'AlwaysAdmit' }

function deny(request: AdmissionRequest): never {
  throw refusal(request, 'admission control is denying all modifications')
}

/** Rejects every change. */
export const alwaysDeny: AdmissionPlugin = { name: 'AlwaysDeny', admit: deny, validate: deny }

const isInNamespace = ({ namespace, resource }: AdmissionRequest) =>
  namespace !== '' && !(resource.group === '' && resource.plural === 'namespaces')

const hasHome = ({ reader, namespace }: AdmissionRequest) =>
  reader.get<Namespace>('', 'namespaces', '', namespace) !== undefined

/** Rejects every request in a namespace that does not exist, deletes included. */
export const namespaceExists: AdmissionPlugin = {
  name: 'NamespaceExists',
  validate(request) {
    if (isInNamespace(request) && !hasHome(request)) {
      throw notFound({ group: '', resource: 'namespaces' }, request.namespace)
    }
  },
}

/** Creates the namespace of a request if it does not exist. */
export const namespaceAutoProvision: AdmissionPlugin = {
  name: 'NamespaceAutoProvision',
  admit(request) {
    const { operation, objects, dryRun, namespace } = request
    if (operation !== 'CREATE' || dryRun || !objects || !isInNamespace(request) || hasHome(request)) return undefined
    return objects.create<Namespace>(namespaces, { metadata: { name: namespace }, spec: {}, status: {} }).then(
      () => undefined,
      (e: unknown) => {
        if (!isAlreadyExists(e)) throw refusal(request, (e as Error).message)
      },
    )
  },
}
