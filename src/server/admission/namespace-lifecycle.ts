import { ApiError, notFound } from '../../api/errors.ts'
import type { Namespace } from '../../api/generated/types.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { refusal } from './refusal.ts'

const immortal = ['default', 'kube-system', 'kube-public']

const isNamespace = ({ resource }: AdmissionRequest) => resource.group === '' && resource.plural === 'namespaces'

function terminating(request: AdmissionRequest): ApiError {
  const { namespace } = request
  const { code, reason, message, details } = refusal(
    request,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  )
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  }
  return new ApiError(code, reason, message, { ...details, causes: [cause] })
}

function checkHome(request: AdmissionRequest): void {
  const { operation, namespace, reader } = request
  if (operation === 'DELETE' || !request.resource.namespaced) return
  const home = reader.get<Namespace>('', 'namespaces', '', namespace)
  if (!home) throw notFound({ group: '', resource: 'namespaces' }, namespace)
  if (operation === 'CREATE' && home.status.phase === 'Terminating') throw terminating(request)
}

/** Rejects creates and updates in missing namespaces, creates in terminating ones, and deletes of system namespaces. */
export const namespaceLifecycle: AdmissionPlugin = {
  name: 'NamespaceLifecycle',
  admit(request) {
    const { operation, name } = request
    if (isNamespace(request)) {
      if (operation === 'DELETE' && immortal.includes(name)) throw refusal(request, 'this namespace may not be deleted')
      return
    }
    checkHome(request)
  },
  /** Checked again right before the write, because plugins may have waited. */
  validate: checkHome,
}
