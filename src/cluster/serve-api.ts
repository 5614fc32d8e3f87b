import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import type { FeatureGates } from '../api/feature-gates.ts'
import { systemClock } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import { systemRandom } from '../base/random.ts'
import {
  ApiServer,
  Authenticator,
  type KeyPair,
  type ResourceSettings,
  admissionPlugins,
  issueClientCertificate,
  issueServerCertificate,
  listen,
  parseTokenFile,
} from '../server/index.ts'
import { type Store, openLmdbStore, openMemoryStore, startCompactor } from '../store/index.ts'
import type { AuditFlags } from './audit.ts'
import { type EncryptionFlags, FileEncryption } from './encryption.ts'
import { keepPrivate, warnIfOpen } from './private-files.ts'
import { readCertificates, readFlagFile } from './flag-files.ts'
import { isKubeconfigValid, kubeconfigText } from './kubeconfig.ts'
import { loadAuthority, loadTokenKey, writePrivateFile } from './pki.ts'
import { reachable } from './reachable.ts'
import { watchLoop } from './watch-loop.ts'

export interface ServeOptions {
  dataDir: string
  store: 'lmdb' | 'memory'
  bindAddress: string
  securePort: number
  kubeconfigOut: string | undefined
  tokenAuthFile: string | undefined
  clientCaFile: string | undefined
  disabledAdmission: readonly string[]
  gates: FeatureGates
  settings?: ResourceSettings
  /** --service-account-issuer: the first issues tokens, all are accepted. */
  tokenIssuers?: readonly string[]
  jwksUri?: string | undefined
  /** Undefined: no request is recorded. */
  audit?: AuditFlags | undefined
  /** Undefined: values are stored as they are. */
  encryption?: EncryptionFlags | undefined
  release: string
  logger: Logger
}

export interface RunningApi {
  url: string
  kubeconfig: string
  server: ApiServer
  /** The certificate that vouches for it, in PEM. */
  authority: string
  /** The cluster's authority with its key, which signs certificates. */
  signer: KeyPair
  /** Ends cleanly: answers what was asked, then lets go of the store. */
  stop(): Promise<void>
}

/** How long a stop waits for requests that are being answered. */
const stopGraceMs = 3000

/** History is kept for five minutes, as Kubernetes does, and no longer than this many revisions. */
const history = { maxAgeMs: 5 * 60_000, maxRevisions: 100_000, intervalMs: 60_000 }

/** Who the API server is to nodes; Kubernetes' own name for it. */
const nodeClientSubject = { commonName: 'kube-apiserver-kubelet-client', organizations: ['system:masters'] }

/** Starts an API server that listens: store, certificates, socket, kubeconfig. */
export async function serveApi(options: ServeOptions): Promise<RunningApi> {
  const { dataDir, logger } = options
  makeDataDir(dataDir)
  const plugins = chooseAdmission(options.disabledAdmission)
  const tokens = options.tokenAuthFile ? parseTokenFile(readFlagFile('--token-auth-file', options.tokenAuthFile)) : undefined
  // Loaded when it is needed, with the client that reaches webhooks.
  const audit = options.audit && (await (await import('./audit.ts')).openAudit(options.audit, { clock: systemClock, random: systemRandom, logger }))
  const plainStore = await openStore(options)
  let encryption: FileEncryption | undefined
  let store = plainStore
  try {
    checkPrivacy(options)
    if (options.encryption) encryption = await FileEncryption.open(options.encryption, plainStore, { clock: systemClock, random: systemRandom, logger })
    store = encryption?.store ?? plainStore
    const now = Date.now()
    const authority = loadAuthority(dataDir, now)
    const clientAuthorities = [authority.certificate, ...(options.clientCaFile ? [readCertificates('--client-ca-file', options.clientCaFile)] : [])]
    const server = await ApiServer.open({
      store,
      gates: options.gates,
      authenticator: new Authenticator(tokens),
      admission: plugins,
      clock: systemClock,
      random: systemRandom,
      logger,
      release: options.release,
      address: `${options.bindAddress}:${options.securePort}`,
      tokenKey: loadTokenKey(dataDir),
      ...(options.settings ? { settings: options.settings } : {}),
      ...(options.tokenIssuers?.length ? { tokenIssuers: options.tokenIssuers } : {}),
      ...(options.jwksUri ? { jwksUri: options.jwksUri } : {}),
      audit,
      nodeClient: issueClientCertificate(authority, nodeClientSubject, now),
      clientAuthorities: { clients: clientAuthorities.join('\n'), proxies: authority.certificate },
    })
    const { listener, url, kubeconfig } = await openDoor(options, server, authority, clientAuthorities, now).catch((e: unknown) => {
      server.close()
      throw e
    })
    encryption?.follow(server)
    const stopCompactor = startCompactor(store, { clock: systemClock, ...history, onError: (error) => logger.warn('history could not be compacted', { error }) })
    const stopWatchingLoop = watchLoop(server.metrics, server.health)
    logger.info('serving the API', { url, kubeconfig, store: options.store, release: options.release, revision: store.revision })
    return {
      url,
      kubeconfig,
      server,
      authority: authority.certificate,
      signer: authority,
      async stop() {
        server.beginStop()
        stopCompactor()
        encryption?.stop()
        stopWatchingLoop()
        await listener.close(stopGraceMs)
        server.close()
        await audit?.close()
        await store.close()
      },
    }
  } catch (e) {
    await store.close()
    throw e
  }
}

/** Listens, and tells the admin where. */
async function openDoor(options: ServeOptions, server: ApiServer, authority: KeyPair, clientAuthorities: readonly string[], now: number) {
  const listener = await listen({
    address: options.bindAddress,
    port: options.securePort,
    serving: issueServerCertificate(authority, servingHosts(options.bindAddress), now),
    clientAuthorities,
    handle: (exchange) => server.handle(exchange),
  })
  const url = `https://${reachable(options.bindAddress)}:${listener.port}`
  server.openId.serveAt(new URL(url).host)
  try {
    return { listener, url, kubeconfig: writeKubeconfig(options, url, authority, now) }
  } catch (e) {
    await listener.close(0)
    throw new Error(`--kubeconfig-out: ${(e as Error).message}`, { cause: e })
  }
}

function makeDataDir(dir: string): void {
  if (dir === '') throw new Error('--data-dir: must not be empty')
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
  } catch (e) {
    throw new Error(`--data-dir: ${(e as Error).message}`, { cause: e })
  }
}

function checkPrivacy({ dataDir, encryption, tokenAuthFile, logger }: ServeOptions): void {
  keepPrivate(dataDir, logger)
  if (encryption) warnIfOpen('--encryption-provider-config', encryption.configFile, logger)
  if (tokenAuthFile) warnIfOpen('--token-auth-file', tokenAuthFile, logger)
}

function openStore({ store, dataDir, logger }: ServeOptions): Promise<Store> | Store {
  if (store === 'memory') return openMemoryStore()
  const dir = path.join(dataDir, 'db')
  return openLmdbStore({ dir, onConverted: () => logger.info('data of an older release was converted', { dir }) })
}

const kubernetesPlugins = new Set(
  ('AlwaysAdmit AlwaysDeny AlwaysPullImages CertificateApproval CertificateSigning CertificateSubjectRestriction ClusterTrustBundleAttest ' +
    'DenyServiceExternalIPs EventRateLimit ExtendedResourceToleration ImagePolicyWebhook LimitPodHardAntiAffinityTopology LimitRanger ' +
    'MutatingAdmissionPolicy MutatingAdmissionWebhook NamespaceAutoProvision NamespaceExists NodeRestriction OwnerReferencesPermissionEnforcement ' +
    'PodNodeSelector PodSecurity PodTolerationRestriction ResourceQuota ServiceAccount ValidatingAdmissionPolicy ValidatingAdmissionWebhook').split(' '),
)

function chooseAdmission(disabled: readonly string[]) {
  const known = new Set(admissionPlugins.map((p) => p.name))
  // Kubernetes' own plugins can be named even where there is nothing to disable, so that its scripts work.
  for (const name of disabled) if (!known.has(name) && !kubernetesPlugins.has(name)) throw new Error(`admission plugin ${JSON.stringify(name)} is unknown`)
  return admissionPlugins.filter((p) => !disabled.includes(p.name))
}

function servingHosts(bindAddress: string): string[] {
  const names = ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local', hostname()]
  return [...new Set([...names, '127.0.0.1', '::1', '10.0.0.1', bindAddress])]
}

function writeKubeconfig(options: ServeOptions, url: string, authority: KeyPair, now: number): string {
  const file = options.kubeconfigOut ?? path.join(options.dataDir, 'kubeconfig')
  const old = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (isKubeconfigValid(old, url, authority.certificate, now)) return path.resolve(file)
  const user = 'kubernetes-admin'
  const client = issueClientCertificate(authority, { commonName: user, organizations: ['system:masters'] }, now)
  writePrivateFile(file, kubeconfigText(url, authority.certificate, user, client))
  return path.resolve(file)
}
