/**
 * The labels of sandboxes and containers, by which a restarted agent identifies them. The names are kubelet's, because
 * other tools read them.
 */
export const podNameLabel = 'io.kubernetes.pod.name'
export const podNamespaceLabel = 'io.kubernetes.pod.namespace'
export const podUidLabel = 'io.kubernetes.pod.uid'
export const containerNameLabel = 'io.kubernetes.container.name'

/** The hash of the container's image. A different hash in the spec requires a new container. */
export const containerHashAnnotation = 'io.kubernetes.container.hash'
export const restartCountAnnotation = 'io.kubernetes.container.restartCount'
export const messagePathAnnotation = 'io.kubernetes.container.terminationMessagePath'
export const messagePolicyAnnotation = 'io.kubernetes.container.terminationMessagePolicy'
export const gracePeriodAnnotation = 'io.kubernetes.pod.terminationGracePeriod'

/**
 * The sort of the container (`regular`, `init`, `sidecar`, `ephemeral`) and its restart policy, which a runtime without
 * processes simulates.
 */
export const containerSortAnnotation = 'coxswain.dev/container-sort'
export const restartPolicyAnnotation = 'coxswain.dev/restart-policy'
/** The resources with which a container was created. Those of the spec may have changed since. */
export const resourcesAnnotation = 'coxswain.dev/resources'
