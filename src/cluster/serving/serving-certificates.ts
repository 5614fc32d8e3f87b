import { hostname } from 'node:os'
import { systemClock } from '../../base/clock.ts'
import type { Service } from '../../client/index.ts'
import { type KeyPair, type Listener, issueClientCertificate, issueServerCertificate } from '../../server/index.ts'
import type { Store } from '../../store/index.ts'
import { type ClusterKeys, loadClusterKeys } from '../keys/cluster-keys.ts'
import { RenewedPair, keepRenewed, timeProblem } from '../keys/renewal.ts'
import type { Authentication } from './authentication.ts'
import { followFiles } from './followed-files.ts'
import { kubeconfigRenewals } from './kubeconfig-files.ts'
import type { ServeOptions } from './serve-options.ts'

/** The API server's identity as a client of nodes, named as in Kubernetes. */
const nodeClientSubject = { commonName: 'kube-apiserver-kubelet-client', organizations: ['system:masters'] }

/** The API server's identity when it proxies requests to other API servers. */
const proxyClientSubject = { commonName: 'front-proxy-client' }

/** The keys of the cluster, and the client certificates that this server issues to itself. */
export interface ServerKeys extends ClusterKeys {
  nodeClient: RenewedPair
  proxyClient: RenewedPair
}

/** Loads the cluster's keys. Throws if its CA has expired. */
export async function loadServerKeys(store: Store, dataDir: string, now: number): Promise<ServerKeys> {
  const keys = await loadClusterKeys(store, dataDir, now)
  const { authority, proxyAuthority } = keys
  const problem = timeProblem("the cluster's certificate authority", authority.certificate, now)
  if (problem !== undefined) throw new Error(`--data-dir: ${problem}`)
  return {
    ...keys,
    nodeClient: new RenewedPair((nowMs) => issueClientCertificate(authority, nodeClientSubject, nowMs), now),
    proxyClient: new RenewedPair((nowMs) => issueClientCertificate(proxyAuthority, proxyClientSubject, nowMs), now),
  }
}

/** Returns the CAs for client certificates: the cluster's CA and those of --client-ca-file. */
export const clientsOf = (authority: KeyPair, { clients }: Authentication): string[] => [
  authority.certificate,
  ...clients(),
]

/** Issues the serving certificate. The chain includes the CA: a joining node checks its hash. */
export function issueServing(
  options: ServeOptions,
  api: Service | undefined,
  authority: KeyPair,
  nowMs: number,
): KeyPair {
  const { certificate, key } = issueServerCertificate(authority, servingHosts(options, api?.spec.clusterIPs), nowMs)
  return { certificate: `${certificate}${authority.certificate}`, key }
}

function servingHosts(
  { bindAddress, clusterDomain = 'cluster.local' }: ServeOptions,
  clusterIps: readonly string[] = [],
): string[] {
  const names = [
    'localhost',
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    `kubernetes.default.svc.${clusterDomain}`,
    hostname(),
  ]
  return [...new Set([...names, '127.0.0.1', '::1', ...clusterIps, bindAddress])]
}

/** Renews the server's certificates and the kubeconfigs, and follows changes of the files that flags name. */
export function keepCertificates(
  options: ServeOptions,
  { listener, serving, url }: { listener: Pick<Listener, 'renew'>; serving: RenewedPair; url: string },
  { authority, nodeClient, proxyClient }: ServerKeys,
  authentication: Authentication,
): () => void {
  const { logger } = options
  const show = () => {
    const clientAuthorities = clientsOf(authority, authentication)
    listener.renew(serving, { clientAuthorities, proxyAuthorities: authentication.proxies() })
  }
  const renewServing = (nowMs: number) => {
    const isNew = serving.renew(nowMs)
    if (isNew) show()
    return isNew
  }
  const renewals = [
    { what: 'serving', renew: renewServing },
    { what: nodeClientSubject.commonName, renew: (nowMs: number) => nodeClient.renew(nowMs) },
    { what: proxyClientSubject.commonName, renew: (nowMs: number) => proxyClient.renew(nowMs) },
    ...kubeconfigRenewals(options, url, authority),
  ]
  const stopRenewing = keepRenewed(renewals, systemClock, logger)
  const stopFollowing = followFiles(authentication.files, show, systemClock, logger)
  return () => {
    stopRenewing()
    stopFollowing()
  }
}
