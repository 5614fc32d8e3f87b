/** Kubernetes keeps objects below what etcd takes by default. */
export const maxObjectBytes = 1536 * 1024
