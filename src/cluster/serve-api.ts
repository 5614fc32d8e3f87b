import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import type { FeatureGates } from '../api/feature-gates.ts'
import { systemClock } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import { systemRandom } from '../base/random.ts'
import {
  ApiServer,
  type ConnectionLimits,
  type FairnessSettings,
  type KeyPair,
  LiveServers,
  type ResourceSettings,
  chooseAdmission,
  issueClientCertificate,
  issueServerCertificate,
  listen,
  processMemory,
} from '../server/index.ts'
import { startCompactor } from '../store/index.ts'
import { readAdmissionConfiguration } from './admission-configuration.ts'
import { type Authentication, type AuthenticationFlags, makeAuthentication } from './authentication.ts'
import { loadClusterKeys } from './cluster-keys.ts'
import { followFiles } from './followed-files.ts'
import { isKubeconfigValid, kubeconfigText, leadsTo } from './kubeconfig.ts'
import type { AuditFlags } from './audit.ts'
import { type EncryptionFlags, FileEncryption } from './encryption.ts'
import { keepPrivate, warnIfOpen } from './private-files.ts'
import { writePrivateFile } from './pki.ts'
import { type AuthorizationFlags, readAuthorization } from './read-authorization.ts'
import { RenewedPair, keepRenewed, timeProblem } from './renewal.ts'
import { addressFromElsewhere, reachable } from './reachable.ts'
import { type EtcdFlags, type StoreDriver, openStore } from './open-store.ts'
import { controllerManagerUser, monitorUser, schedulerUser } from './users.ts'
import { watchLoop } from './watch-loop.ts'

export interface ServeOptions {
  dataDir: string
  store: StoreDriver
  /** For the store etcd. */
  etcd?: EtcdFlags | undefined
  bindAddress: string
  securePort: number
  kubeconfigOut: string | undefined
  tokenAuthFile: string | undefined
  clientCaFile: string | undefined
  /** --enable-admission-plugins */
  enabledAdmission?: readonly string[]
  disabledAdmission: readonly string[]
  /** Default: Node and RBAC. */
  authorization?: AuthorizationFlags
  /** --admission-control-config-file */
  admissionConfigFile?: string | undefined
  gates: FeatureGates
  settings?: ResourceSettings
  fairness?: FairnessSettings
  connections?: ConnectionLimits
  /** --service-account-issuer: the first issues tokens, all are accepted. */
  tokenIssuers?: readonly string[]
  jwksUri?: string | undefined
  /** Further flags of authentication. */
  authentication?: AuthenticationFlags
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
  /** True if other servers may write to the same store. */
  isShared: boolean
  /** Ends cleanly: answers what was asked, then lets go of the store. */
  stop(): Promise<void>
}

/** How long a stop waits for requests that are being answered. */
const stopGraceMs = 3000

/** History is kept for five minutes, as Kubernetes does, and no longer than this many revisions. */
const history = { maxAgeMs: 5 * 60_000, maxRevisions: 100_000, intervalMs: 60_000 }

/** Who the API server is to nodes; Kubernetes' own name for it. */
const nodeClientSubject = { commonName: 'kube-apiserver-kubelet-client', organizations: ['system:masters'] }

/** Who the API server is to other API servers that it passes requests on to. */
const proxyClientSubject = { commonName: 'front-proxy-client' }

/** Starts an API server that listens: store, certificates, socket, kubeconfig. */
export async function serveApi(options: ServeOptions): Promise<RunningApi> {
  const { dataDir, logger } = options
  makeDataDir(dataDir)
  const configurations = options.admissionConfigFile ? readAdmissionConfiguration(options.admissionConfigFile) : undefined
  const plugins = chooseAdmission({
    enabled: options.enabledAdmission ?? [],
    disabled: options.disabledAdmission,
    ...(configurations ? { configurations } : {}),
  })
  const authentication = await makeAuthentication(options, logger)
  const authorization = await readAuthorization(options.authorization)
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
    const { authority, proxyAuthority, tokenKey } = await loadClusterKeys(store, dataDir, now)
    const problem = timeProblem("the cluster's certificate authority", authority.certificate, now)
    if (problem !== undefined) throw new Error(`--data-dir: ${problem}`)
    const nodeClient = new RenewedPair((nowMs) => issueClientCertificate(authority, nodeClientSubject, nowMs), now)
    const proxyClient = new RenewedPair((nowMs) => issueClientCertificate(proxyAuthority, proxyClientSubject, nowMs), now)
    const server = await ApiServer.open({
      store,
      gates: options.gates,
      authenticator: authentication.authenticator,
      admission: plugins,
      ...authorization,
      clock: systemClock,
      random: systemRandom,
      logger,
      release: options.release,
      memory: processMemory(),
      address: `${options.bindAddress}:${options.securePort}`,
      tokenKey,
      ...(options.fairness ? { fairness: options.fairness } : {}),
      ...(options.settings ? { settings: options.settings } : {}),
      ...(options.tokenIssuers?.length ? { tokenIssuers: options.tokenIssuers } : {}),
      ...(options.jwksUri ? { jwksUri: options.jwksUri } : {}),
      audit,
      acceptsBootstrapTokens: options.authentication?.bootstrapTokens ?? true,
      nodeClient,
      proxyClient,
      rootCa: authority.certificate,
      clientAuthorities: {
        clients: clientsOf(authority, authentication).join('\n'),
        proxies: [proxyAuthority.certificate, ...authentication.proxies()].join('\n'),
        headers: options.authentication?.requestHeader,
      },
    })
    const door = await openDoor(options, server, authority, authentication, now).catch((e: unknown) => {
      server.close()
      throw e
    })
    const { listener, url, kubeconfig } = door
    const stopRenewing = keepCertificates(options, door, authority, authentication, { nodeClient, proxyClient })
    encryption?.follow(server)
    const stopCompactor = startCompactor(store, { clock: systemClock, ...history, onError: (error) => logger.warn('history could not be compacted', { error }) })
    const stopWatchingLoop = watchLoop(server.metrics, server.health)
    const live = server.parts.objects.isShared ? await showUp(options, server, listener.port) : undefined
    logger.info('serving the API', { url, kubeconfig, store: options.store, release: options.release, revision: store.revision })
    return {
      url,
      kubeconfig,
      server,
      authority: authority.certificate,
      signer: authority,
      isShared: server.parts.objects.isShared,
      async stop() {
        server.beginStop()
        await live?.stop()
        stopCompactor()
        encryption?.stop()
        stopWatchingLoop()
        stopRenewing()
        await authentication.close()
        await listener.close(stopGraceMs)
        server.close()
        await audit?.close()
        await store.close()
      },
    }
  } catch (e) {
    await authentication.close()
    await store.close()
    throw e
  }
}

/** Other servers of the cluster, and clients in it, find this one. */
async function showUp({ dataDir, bindAddress, logger }: ServeOptions, { parts: { access: objects } }: ApiServer, port: number): Promise<LiveServers> {
  // The same for every start in this directory.
  const identity = createHash('sha256').update(`${hostname()} ${path.resolve(dataDir)}`).digest('hex').slice(0, 16)
  const live = new LiveServers({ objects, identity, ip: addressFromElsewhere(bindAddress), port, clock: systemClock, logger })
  await live.start()
  return live
}

/** The authorities of client certificates: the cluster's own, and those of --client-ca-file. */
const clientsOf = (authority: KeyPair, { clients }: Authentication): string[] => [authority.certificate, ...clients()]

/** Renews the server's certificates and the admin's, and reads files again that flags name. */
function keepCertificates(
  options: ServeOptions,
  { listener, serving, url }: Awaited<ReturnType<typeof openDoor>>,
  authority: KeyPair,
  authentication: Authentication,
  { nodeClient, proxyClient }: { nodeClient: RenewedPair; proxyClient: RenewedPair },
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
    ...kubeconfigUsers(options).map((user) => ({
      what: user.file,
      renew: (nowMs: number) => renewKubeconfig(user, url, authority, nowMs),
    })),
  ]
  const stopRenewing = keepRenewed(renewals, systemClock, logger)
  const stopFollowing = followFiles(authentication.files, show, systemClock, logger)
  return () => {
    stopRenewing()
    stopFollowing()
  }
}

/** Listens, and tells the admin where. */
async function openDoor(
  options: ServeOptions,
  server: ApiServer,
  authority: KeyPair,
  authentication: Authentication,
  now: number,
) {
  const serving = new RenewedPair((nowMs) => issueServing(options, authority, nowMs), now)
  const listener = await listen({
    address: options.bindAddress,
    port: options.securePort,
    serving,
    clientAuthorities: clientsOf(authority, authentication),
    proxyAuthorities: authentication.proxies(),
    handle: (exchange) => server.handle(exchange),
    ...(options.connections ? { limits: options.connections } : {}),
    warn: (message, fields) => options.logger.warn(message, fields),
  })
  const url = `https://${reachable(options.bindAddress)}:${listener.port}`
  server.openId.serveAt(new URL(url).host)
  try {
    writeKubeconfigs(options, url, authority, now)
    return { listener, serving, url, kubeconfig: kubeconfigFile(options) }
  } catch (e) {
    await listener.close(0)
    throw new Error(`--kubeconfig-out: ${(e as Error).message}`, { cause: e })
  }
}

/** The server shows its authority with its certificate: a node that joins finds it there, and checks its hash. */
function issueServing({ bindAddress }: ServeOptions, authority: KeyPair, nowMs: number): KeyPair {
  const { certificate, key } = issueServerCertificate(authority, servingHosts(bindAddress), nowMs)
  return { certificate: `${certificate}${authority.certificate}`, key }
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

function servingHosts(bindAddress: string): string[] {
  const names = ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local', hostname()]
  return [...new Set([...names, '127.0.0.1', '::1', '10.0.0.1', bindAddress])]
}

const kubeconfigFile = ({ kubeconfigOut, dataDir }: ServeOptions): string =>
  path.resolve(kubeconfigOut ?? path.join(dataDir, 'kubeconfig'))

interface KubeconfigUser {
  file: string
  commonName: string
  organizations: string[]
}

/** Parts that run in processes of their own have a kubeconfig each, with the rights that they need; the admin has all. */
const kubeconfigUsers = (options: ServeOptions): KubeconfigUser[] => [
  ...[
    { name: 'controller-manager.conf', user: controllerManagerUser },
    { name: 'scheduler.conf', user: schedulerUser },
    { name: 'monitor.conf', user: monitorUser },
  ].map(({ name, user }) => ({ file: path.join(options.dataDir, name), commonName: user.name, organizations: [] })),
  { file: kubeconfigFile(options), commonName: 'kubernetes-admin', organizations: ['system:masters'] },
]

/** Writes all kubeconfigs. Those that still lead to the server stay as they are. */
function writeKubeconfigs(options: ServeOptions, url: string, authority: KeyPair, now: number): void {
  for (const user of kubeconfigUsers(options)) writeKubeconfig(user, url, authority, now)
}

/** A file that is gone, or leads elsewhere by now, is left alone while the server runs. */
function renewKubeconfig(user: KubeconfigUser, url: string, authority: KeyPair, now: number): boolean {
  const { file } = user
  if (!existsSync(file) || !leadsTo(readFileSync(file, 'utf8'), url, authority.certificate)) return false
  return writeKubeconfig(user, url, authority, now)
}

/** True if it has written the file. */
function writeKubeconfig(user: KubeconfigUser, url: string, authority: KeyPair, now: number): boolean {
  const { file, ...subject } = user
  const old = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (isKubeconfigValid(old, url, authority.certificate, now)) return false
  const client = issueClientCertificate(authority, subject, now)
  writePrivateFile(file, kubeconfigText(url, authority.certificate, subject.commonName, client))
  return true
}
