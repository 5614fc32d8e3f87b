/** What a sandbox or container carries, so that an agent that starts anew knows whose it is. Kubelet's own names: other tools read them. */
export const podNameLabel = 'io.kubernetes.pod.name'
export const podNamespaceLabel = 'io.kubernetes.pod.namespace'
export const podUidLabel = 'io.kubernetes.pod.uid'
export const containerNameLabel = 'io.kubernetes.container.name'

/** Of the image that the container was made from: another one in the spec means that it is to be made anew. */
export const containerHashAnnotation = 'io.kubernetes.container.hash'
export const restartCountAnnotation = 'io.kubernetes.container.restartCount'
export const messagePathAnnotation = 'io.kubernetes.container.terminationMessagePath'
export const messagePolicyAnnotation = 'io.kubernetes.container.terminationMessagePolicy'
export const gracePeriodAnnotation = 'io.kubernetes.pod.terminationGracePeriod'

/** What sort of container it is (`regular`, `init`, `sidecar`, `ephemeral`) and its restart policy: a runtime without processes goes by them. */
export const containerSortAnnotation = 'coxswain.dev/container-sort'
export const restartPolicyAnnotation = 'coxswain.dev/restart-policy'
