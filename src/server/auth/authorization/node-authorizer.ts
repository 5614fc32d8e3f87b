import type { UserInfo } from '../../objects/objects.ts'
import {
  type Attempt,
  type Authorizer,
  type Decision,
  type KnownRules,
  type ResourceAttempt,
  isPathAttempt,
  nameOf,
  namespaceOf,
} from '../authorize.ts'
import { nodeRules } from '../bootstrap-policy/index.ts'
import type { NodeGraph, Referenced } from './node-graph.ts'
import { RuleTable, lookupOf } from './rule-table.ts'
import { requiresField, selectorsOf } from './selectors.ts'

const namePrefix = 'system:node:'
const nodesGroup = 'system:nodes'
const leaseNamespace = 'kube-node-lease'

/** The node name of a user: a member of system:nodes whose name is `system:node:NAME`. Undefined for other users. */
export function nodeNameOf({ name, groups }: UserInfo): string | undefined {
  if (!name.startsWith(namePrefix) || !groups.includes(nodesGroup)) return undefined
  return name.slice(namePrefix.length)
}

/** Resources that a node may access if a pod on it refers to them. */
const referenced = new Map<string, Referenced>(
  (['secrets', 'configmaps', 'persistentvolumeclaims', 'persistentvolumes', 'serviceaccounts'] as const).map(
    (resource) => [` ${resource}`, resource],
  ),
)
referenced.set('storage.k8s.io volumeattachments', 'volumeattachments')
referenced.set('resource.k8s.io resourceclaims', 'resourceclaims')

/** The `Node` authorizer: allows a node its own objects, and those that pods on it refer to. */
export class NodeAuthorizer implements Authorizer {
  readonly #graph: NodeGraph
  readonly #rules = new RuleTable<undefined>()

  constructor(graph: NodeGraph) {
    this.#graph = graph
    this.#rules.add(nodeRules, undefined)
  }

  authorize(user: UserInfo, attempt: Attempt): Decision | Promise<Decision> {
    const node = nodeNameOf(user)
    if (node === undefined) return noOpinion
    const { incomplete } = this.#graph
    return incomplete ? incomplete.then(() => this.#decide(node, attempt)) : this.#decide(node, attempt)
  }

  #decide(node: string, attempt: Attempt): Decision {
    if (node === '') return refuse('unknown node for user')
    if (isPathAttempt(attempt)) return this.#byRules(attempt)
    const { group, plural } = attempt.path
    const resource = referenced.get(`${group} ${plural}`)
    if (resource) return this.#referenced(node, resource, attempt)
    const own = this.#own(node, attempt)
    return own ?? this.#byRules(attempt)
  }

  rulesFor(user: UserInfo): KnownRules {
    if (nodeNameOf(user) === undefined) return { rules: [] }
    return { rules: [], incomplete: true, errors: ['node authorizer does not support user rule resolution'] }
  }

  /** Decides on objects named after the node. Undefined leaves the decision to the rules. */
  #own(node: string, attempt: ResourceAttempt): Decision | undefined {
    const { group, plural } = attempt.path
    if (group === 'coordination.k8s.io' && plural === 'leases') return ownLease(node, attempt)
    if (group === 'storage.k8s.io' && plural === 'csinodes') return ownCsiNode(node, attempt)
    if (group === 'resource.k8s.io' && plural === 'resourceslices') return this.#ownSlices(node, attempt)
    if (group === '' && plural === 'pods') return this.#ownPod(node, attempt)
    return group === '' && plural === 'nodes' ? this.#ownNode(node, attempt) : undefined
  }

  #referenced(node: string, resource: Referenced, attempt: ResourceAttempt): Decision {
    const {
      verb,
      path: { subresource },
    } = attempt
    if (resource === 'serviceaccounts') {
      if (subresource === 'token' && verb === 'create') return this.#used(node, resource, attempt)
      if (subresource === '' && verb === 'get') return this.#used(node, resource, attempt)
      return this.#byRules(attempt)
    }
    if (resource === 'persistentvolumeclaims' && subresource === 'status') {
      if (verb !== 'get' && verb !== 'update' && verb !== 'patch') return refuse('can only get/update/patch this type')
      return this.#used(node, resource, attempt)
    }
    if (subresource !== '') return refuse('cannot read subresource')
    // Coxswain's nodes watch a claim by name and mark it as used, unlike kubelet, which only gets it. Admission limits
    // the patch to that mark.
    const isClaim = resource === 'persistentvolumeclaims'
    const isFollowed = isClaim || resource === 'secrets' || resource === 'configmaps'
    const isRead = verb === 'get' || (isFollowed && (verb === 'list' || verb === 'watch'))
    if (!isRead && !(isClaim && verb === 'patch'))
      return refuse(
        isFollowed ? 'can only read resources of this type' : 'can only get individual resources of this type',
      )
    return this.#used(node, resource, attempt)
  }

  #used(node: string, resource: Referenced, attempt: ResourceAttempt): Decision {
    const name = nameOf(attempt)
    if (name === '')
      return refuse(
        resource === 'secrets' || resource === 'configmaps'
          ? 'No Object name found'
          : 'can only get individual resources of this type',
      )
    if (this.#graph.isUsedOn(node, resource, attempt.path.namespace, name)) return allowed
    return refuse(`no relationship found between node '${node}' and this object`)
  }

  /** A node may get pods by name, and list only the pods bound to it. */
  #ownPod(node: string, attempt: ResourceAttempt): Decision | undefined {
    const { verb, path } = attempt
    if (path.subresource !== '' || !(verb === 'get' || verb === 'list' || verb === 'watch')) return undefined
    const name = nameOf(attempt)
    if (verb === 'get' || name !== '') {
      const home = this.#graph.nodeOfPod(namespaceOf(attempt), name)
      return home === node ? allowed : refuse(`no relationship found between node '${node}' and this object`)
    }
    return requiresField(selectorsOf(attempt), 'spec.nodeName', node)
      ? allowed
      : refuse('can only list/watch pods with spec.nodeName field selector')
  }

  #ownNode(node: string, attempt: ResourceAttempt): Decision | undefined {
    const {
      verb,
      path: { subresource },
    } = attempt
    if (subresource === '' && (verb === 'get' || verb === 'list' || verb === 'watch')) {
      return nameOf(attempt) === node
        ? allowed
        : refuse(`node '${node}' cannot read '${nameOf(attempt)}', only its own Node object`)
    }
    return undefined
  }

  #ownSlices(node: string, attempt: ResourceAttempt): Decision | undefined {
    const { verb } = attempt
    if (verb !== 'list' && verb !== 'watch' && verb !== 'deletecollection') return undefined
    return requiresField(selectorsOf(attempt), 'spec.nodeName', node)
      ? allowed
      : refuse('can only list/watch/deletecollection resourceslices with spec.nodeName field selector')
  }

  #byRules(attempt: Attempt): Decision {
    return this.#rules.find(lookupOf(attempt)) ? allowed : noOpinion
  }
}

const allowed: Decision = { allowed: true }
const noOpinion: Decision = { allowed: false }
const refuse = (reason: string): Decision => ({ allowed: false, reason })

/** A node's lease has the node's name. A create has no name here, so admission checks it. */
function ownLease(node: string, { verb, path }: ResourceAttempt): Decision {
  if (!['get', 'create', 'update', 'patch', 'delete'].includes(verb))
    return refuse('can only get, create, update, patch, or delete a node lease')
  if (path.namespace !== leaseNamespace)
    return refuse(`can only access leases in the "${leaseNamespace}" system namespace`)
  return verb === 'create' || path.name === node
    ? allowed
    : refuse('can only access node lease with the same name as the requesting node')
}

function ownCsiNode(node: string, { verb, path }: ResourceAttempt): Decision {
  if (path.subresource !== '') return refuse('cannot authorize CSINode subresources')
  if (!['get', 'create', 'update', 'patch', 'delete'].includes(verb))
    return refuse('can only get, create, update, patch, or delete a CSINode')
  return verb === 'create' || path.name === node
    ? allowed
    : refuse('can only access CSINode with the same name as the requesting node')
}
