import { deepEqual } from '../../api/deep-equal.ts'
import type { Node, PersistentVolumeClaim, Pod, TokenRequestSpec } from '../../api/generated/types.ts'
import { claimUsed } from '../../api/kinds/workloads/claim-recovery.ts'
import type { KubeObject } from '../../api/object.ts'
import { nodeNameOf } from '../auth/authorization/node-authorizer.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { refusal } from './refusal.ts'

const mirror = 'kubernetes.io/config.mirror'
/** Labels in Kubernetes' domains that a node may set on itself. */
const ownLabels = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.kubernetes.io/zone',
  'failure-domain.kubernetes.io/region',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
])
const ownPrefixes = ['kubelet.kubernetes.io', 'node.kubernetes.io']

type Check = (node: string, request: AdmissionRequest) => void

const podOf = (request: AdmissionRequest): Pod | undefined =>
  request.reader.get<Pod>('', 'pods', request.namespace, request.name)

function checkPod(node: string, request: AdmissionRequest): void {
  const { operation, subresource, object, old } = request
  const refuse = (why: string) => {
    throw refusal(request, why)
  }
  if (subresource === 'eviction') {
    if (podOf(request)?.spec.nodeName !== node)
      refuse(`node ${JSON.stringify(node)} can only evict pods with spec.nodeName set to itself`)
  } else if (subresource === 'status') {
    const [pod, next] = [old as Pod, object as Pod]
    if (pod.spec.nodeName !== node)
      refuse(`node ${JSON.stringify(node)} can only update pod status for pods with spec.nodeName set to itself`)
    if (!deepEqual(pod.metadata.labels ?? {}, next.metadata.labels ?? {}))
      refuse(`node ${JSON.stringify(node)} cannot update labels through pod status`)
  } else if (subresource !== '') {
    refuse(`unexpected pod subresource ${JSON.stringify(subresource)}, only 'status' and 'eviction' are allowed`)
  } else if (operation === 'CREATE') {
    checkNewPod(node, request, object as Pod)
  } else if (operation === 'DELETE') {
    if (podOf(request)?.spec.nodeName !== node)
      refuse(`node ${JSON.stringify(node)} can only delete pods with spec.nodeName set to itself`)
  } else {
    refuse(
      `unexpected operation ${JSON.stringify(operation)}, node ${JSON.stringify(node)} can only create and delete mirror pods`,
    )
  }
}

/** A node may create only mirror pods bound to itself, which refer to no objects that it could then read. */
function checkNewPod(node: string, request: AdmissionRequest, { metadata, spec }: Pod): void {
  const name = JSON.stringify(node)
  if (metadata.annotations?.[mirror] === undefined)
    throw refusal(
      request,
      `pod does not have ${JSON.stringify(mirror)} annotation, node ${name} can only create mirror pods`,
    )
  if (spec.nodeName !== node)
    throw refusal(request, `node ${name} can only create pods with spec.nodeName set to itself`)
  if (spec.serviceAccountName)
    throw refusal(request, `node ${name} can not create pods that reference a service account`)
  if (spec.resourceClaims?.length)
    throw refusal(request, `node ${name} can not create pods that reference resourceclaims`)
  for (const volume of spec.volumes ?? []) {
    const kind = volume.secret
      ? 'secrets'
      : volume.configMap
        ? 'configmaps'
        : volume.persistentVolumeClaim
          ? 'persistentvolumeclaims'
          : undefined
    if (kind) throw refusal(request, `node ${name} can not create pods that reference ${kind}`)
  }
}

function checkNode(node: string, request: AdmissionRequest): void {
  const { operation, subresource, object, old } = request
  const requested = request.name || (object?.metadata.name ?? '')
  const name = JSON.stringify(node)
  if (requested !== node)
    throw refusal(request, `node ${name} is not allowed to modify node ${JSON.stringify(requested)}`)
  if (operation === 'DELETE' || !object) return
  const next = object as Node
  if (operation === 'CREATE') {
    checkLabels(request, 'set', {}, next.metadata.labels ?? {})
    if (next.metadata.ownerReferences?.length)
      throw refusal(request, `node ${name} is not allowed to set ownerReferences`)
    return
  }
  const before = old as Node
  if (subresource === '' && !deepEqual(before.spec?.taints ?? [], next.spec?.taints ?? []))
    throw refusal(request, `node ${name} is not allowed to modify taints`)
  if (!deepEqual(before.metadata.ownerReferences ?? [], next.metadata.ownerReferences ?? []))
    throw refusal(request, `node ${name} is not allowed to modify ownerReferences`)
  checkLabels(request, 'modify', before.metadata.labels ?? {}, next.metadata.labels ?? {})
}

function checkLabels(
  request: AdmissionRequest,
  verb: string,
  before: Record<string, string>,
  after: Record<string, string>,
): void {
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((label) => before[label] !== after[label] && isReserved(label))
    .sort()
  if (changed.length) throw refusal(request, `is not allowed to ${verb} labels: ${changed.join(', ')}`)
}

function isReserved(label: string): boolean {
  const domain = label.includes('/') ? label.slice(0, label.indexOf('/')) : ''
  const isIn = (parent: string) => domain === parent || domain.endsWith(`.${parent}`)
  if (isIn('node-restriction.kubernetes.io')) return true
  return (isIn('kubernetes.io') || isIn('k8s.io')) && !ownLabels.has(label) && !ownPrefixes.some(isIn)
}

/** A node may change only the resize status of a claim, and mark it as used. */
function checkClaim(node: string, request: AdmissionRequest): void {
  const { subresource, operation, object, old } = request
  if (operation !== 'UPDATE') throw refusal(request, `unexpected operation ${JSON.stringify(operation)}`)
  const [before, after] = [old as PersistentVolumeClaim, object as PersistentVolumeClaim]
  const rest = subresource === 'status' ? withoutResize : withoutMark
  if (!deepEqual(rest(before), rest(after))) {
    const may = subresource === 'status' ? 'update resize-related status fields' : `set the annotation ${claimUsed}`
    throw refusal(request, `node ${JSON.stringify(node)} can only ${may}`)
  }
}

const bare = ({
  metadata: { resourceVersion: _r, managedFields: _m, generation: _g, ...metadata },
  ...rest
}: KubeObject) => ({ ...rest, metadata })

function withoutResize(claim: PersistentVolumeClaim): object {
  const {
    capacity: _c,
    conditions: _o,
    allocatedResources: _a,
    allocatedResourceStatuses: _s,
    modifyVolumeStatus: _v,
    currentVolumeAttributesClassName: _n,
    ...status
  } = claim.status ?? {}
  return { ...bare(claim), status }
}

function withoutMark(claim: PersistentVolumeClaim): object {
  const { metadata, ...rest } = bare(claim)
  const { [claimUsed]: _u, ...annotations } = metadata.annotations ?? {}
  return { ...rest, metadata: { ...metadata, annotations } }
}

/** A node may request only tokens bound to one of its pods. */
function checkToken(node: string, request: AdmissionRequest): void {
  const { object, reader, namespace } = request
  const ref = (object as KubeObject & { spec?: TokenRequestSpec }).spec?.boundObjectRef
  if (ref?.kind !== 'Pod' || !ref.name) throw refusal(request, 'node requested token not bound to a pod')
  if (!ref.uid) throw refusal(request, 'node requested token with a pod binding without a uid')
  const pod = reader.get<Pod>('', 'pods', namespace, ref.name)
  if (!pod || pod.metadata.uid !== ref.uid)
    throw refusal(
      request,
      `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    )
  if (pod.spec.nodeName !== node)
    throw refusal(request, 'node requested token bound to a pod scheduled on a different node')
}

const checkLease = (node: string, request: AdmissionRequest): void => {
  if (request.namespace !== 'kube-node-lease')
    throw refusal(request, 'can only access leases in the "kube-node-lease" system namespace')
  checkName(node, request)
}

function checkName(node: string, request: AdmissionRequest): void {
  const name = request.name || (request.object?.metadata.name ?? '')
  if (name !== node)
    throw refusal(
      request,
      `can only access ${request.resource.kind === 'Lease' ? 'node lease' : request.resource.kind} with the same name as the requesting node`,
    )
}

const checks = new Map<string, Check>([
  [' pods', checkPod],
  [' nodes', checkNode],
  [' persistentvolumeclaims', checkClaim],
  [' serviceaccounts', (node, request) => request.subresource === 'token' && checkToken(node, request)],
  ['coordination.k8s.io leases', checkLease],
  ['storage.k8s.io csinodes', checkName],
])

/**
 * Limits changes of a node to itself and its pods, as far as the decision needs the object, which the node authorizer
 * does not have.
 */
export const nodeRestriction: AdmissionPlugin = {
  name: 'NodeRestriction',
  validate(request) {
    const node = nodeNameOf(request.user)
    if (node === undefined) return
    if (node === '') throw refusal(request, `could not determine node from user ${JSON.stringify(request.user.name)}`)
    const { group, plural } = request.resource
    checks.get(`${group} ${plural}`)?.(node, request)
  },
}
