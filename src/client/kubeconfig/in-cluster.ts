import path from 'node:path'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { ClusterAccess } from '../transport/access.ts'
import { FileCredentials } from './credentials.ts'
import { WatchedFile } from './watched-file.ts'

export interface InClusterOptions {
  clock?: Clock
  env?: Readonly<Record<string, string | undefined>>
  /** Directory with the service account's token, CA and namespace. */
  accountDir?: string
}

const accountDir = '/var/run/secrets/kubernetes.io/serviceaccount'
/** The kubelet replaces a token well before it expires. */
const tokenEveryMs = 10_000
const certificateEveryMs = 60_000

/** Returns true in a pod that has the address of its API server. */
export const isInCluster = (env: Readonly<Record<string, string | undefined>>): boolean =>
  Boolean(env.KUBERNETES_SERVICE_HOST && env.KUBERNETES_SERVICE_PORT)

/** Returns the access of a pod to its cluster, as its service account. */
export function inClusterAccess(options: InClusterOptions = {}): ClusterAccess {
  const { clock = systemClock, env = process.env, accountDir: dir = accountDir } = options
  if (!isInCluster(env))
    throw new Error('this is not a pod of a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set')
  const host = env.KUBERNETES_SERVICE_HOST!
  const file = (name: string, what: string, everyMs: number) =>
    new WatchedFile(path.join(dir, name), what, clock, everyMs)
  const token = file('token', "the service account's token", tokenEveryMs)
  const authority = file('ca.crt', "the service account's certificate authority", certificateEveryMs)
  const namespace = file('namespace', "the service account's namespace", certificateEveryMs)
  token.content()
  authority.content()
  return {
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${env.KUBERNETES_SERVICE_PORT}`),
    authority: () => authority.content(),
    insecureSkipTlsVerify: false,
    headers: {},
    credentials: new FileCredentials({ token }),
    namespace: namespaceOf(namespace),
  }
}

function namespaceOf(file: WatchedFile): string {
  try {
    return file.content().trim() || 'default'
  } catch {
    // Only the token may be mounted; the namespace then defaults as in a kubeconfig.
    return 'default'
  }
}
