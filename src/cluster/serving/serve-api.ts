import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import { systemClock } from '../../base/clock.ts'
import { makeDirectory } from '../../base/durable-files.ts'
import { systemRandom } from '../../base/random.ts'
import type { Service } from '../../client/index.ts'
import { ApiServer, type KeyPair, LiveServers, chooseAdmission, listen, processMemory } from '../../server/index.ts'
import { ownDataDirectory, startCompactor } from '../../store/index.ts'
import { keepPrivate, warnIfOpen } from '../keys/private-files.ts'
import { RenewedPair } from '../keys/renewal.ts'
import { bundleOf, keepBundle } from '../keys/server-bundle.ts'
import { answerSnapshot } from '../tools/backup.ts'
import { readAdmissionConfiguration } from './admission-configuration.ts'
import { makeAuthentication } from './authentication.ts'
import { FileEncryption } from './encryption.ts'
import { kubeconfigFile, listServers, writeKubeconfigs } from './kubeconfig-files.ts'
import { answerStatus, openLocalDoor } from './local-door.ts'
import { openStore } from './open-store.ts'
import { addressFromElsewhere, reachable } from './reachable.ts'
import { readAuthorization } from './read-authorization.ts'
import type { ServeOptions } from './serve-options.ts'
import { chooseServiceRange } from './service-range.ts'
import { type ServerKeys, clientsOf, issueServing, keepCertificates, loadServerKeys } from './serving-certificates.ts'
import { watchLoop } from './watch-loop.ts'

export interface RunningApi {
  url: string
  kubeconfig: string
  server: ApiServer
  /** The certificate of its CA, in PEM. */
  authority: string
  /** The cluster's CA with its key, which signs certificates. */
  signer: KeyPair
  /** True if other servers may write to the same store. */
  isShared: boolean
  /** Stops cleanly: finishes pending requests, then closes the store. */
  stop(): Promise<void>
}

/** Time for pending requests to finish on stop. */
const stopGraceMs = 3000

/** Limits of the history. Kubernetes keeps five minutes, too. */
const history = { maxAgeMs: 5 * 60_000, maxRevisions: 100_000, intervalMs: 60_000 }

const surroundings = { clock: systemClock, random: systemRandom }

/** The parts of a request's policy: authentication, authorization, admission and auditing. */
type Rules = Awaited<ReturnType<typeof readRules>>

/** The store, and the same store with encryption, if that is configured. */
type Storage = Awaited<ReturnType<typeof openStorage>>

/** Starts an API server: policy, store, keys, server, listener, upkeep. */
export async function serveApi(options: ServeOptions): Promise<RunningApi> {
  makeDataDir(options.dataDir)
  const rules = await readRules(options)
  let storage: Storage | undefined
  try {
    storage = await openStorage(options)
    const keys = await loadServerKeys(storage.store, options.dataDir, Date.now())
    const server = await openServer(options, rules, storage, keys)
    const door = await openDoor(options, server, keys, rules).catch((e: unknown) => {
      server.close()
      throw e
    })
    const stopUpkeep = await startUpkeep(options, { rules, storage, keys, server, door })
    return running(options, { rules, storage, keys, server, door }, stopUpkeep)
  } catch (e) {
    await rules.authentication.close()
    await storage?.close()
    throw e
  }
}

/** Everything that `serveApi` has opened. */
interface Opened {
  rules: Rules
  storage: Storage
  keys: ServerKeys
  server: ApiServer
  door: Awaited<ReturnType<typeof openDoor>>
}

/** Reads the flags and files that decide about requests. */
async function readRules(options: ServeOptions) {
  const { enabledAdmission = [], disabledAdmission: disabled, admissionConfigFile, logger } = options
  const configurations = admissionConfigFile ? { configurations: readAdmissionConfiguration(admissionConfigFile) } : {}
  return {
    admission: chooseAdmission({ enabled: enabledAdmission, disabled, ...configurations }),
    authentication: await makeAuthentication(options, logger),
    authorization: await readAuthorization(options.authorization),
    // Loaded on demand, together with the client for webhooks.
    audit: options.audit && (await (await import('./audit.ts')).openAudit(options.audit, { ...surroundings, logger })),
  }
}

/** Locks the data directory and opens the store in it. */
async function openStorage(options: ServeOptions) {
  const release = await ownStoreDirectory(options)
  const plain = await openStore(options)
  let encryption: FileEncryption | undefined
  try {
    checkPrivacy(options)
    if (options.encryption)
      encryption = await FileEncryption.open(options.encryption, plain, { ...surroundings, logger: options.logger })
  } catch (e) {
    await plain.close()
    await release()
    throw e
  }
  const store = encryption?.store ?? plain
  return {
    plain,
    encryption,
    store,
    async close() {
      await store.close()
      await release()
    },
  }
}

const openServer = (options: ServeOptions, rules: Rules, { store }: Storage, keys: ServerKeys): Promise<ApiServer> =>
  ApiServer.open({
    ...surroundings,
    store,
    gates: options.gates,
    authenticator: rules.authentication.authenticator,
    admission: rules.admission,
    ...rules.authorization,
    logger: options.logger,
    release: options.release,
    memory: processMemory(),
    parserProgram: parserProgram(),
    services: {
      range: (stored) =>
        chooseServiceRange(
          {
            given: options.serviceRange,
            place: options.rangePlace ?? 'any',
            dataDir: options.dataDir,
            isShared: store.currentRevision !== undefined,
          },
          stored,
        ),
      ...(options.nodePorts ? { nodePorts: options.nodePorts } : {}),
    },
    address: `${options.bindAddress}:${options.securePort}`,
    tokenKey: keys.tokenKey,
    ...(options.fairness ? { fairness: options.fairness } : {}),
    ...(options.settings ? { settings: options.settings } : {}),
    ...(options.tokenIssuers?.length ? { tokenIssuers: options.tokenIssuers } : {}),
    ...(options.jwksUri ? { jwksUri: options.jwksUri } : {}),
    audit: rules.audit,
    acceptsBootstrapTokens: options.authentication?.bootstrapTokens ?? true,
    nodeClient: keys.nodeClient,
    proxyClient: keys.proxyClient,
    rootCa: keys.authority.certificate,
    clientAuthorities: {
      clients: clientsOf(keys.authority, rules.authentication).join('\n'),
      proxies: [keys.proxyAuthority.certificate, ...rules.authentication.proxies()].join('\n'),
      headers: options.authentication?.requestHeader,
    },
  })

/** Listens, and writes the kubeconfigs. */
async function openDoor(
  options: ServeOptions,
  server: ApiServer,
  { authority }: ServerKeys,
  { authentication }: Rules,
) {
  const now = Date.now()
  const api = server.parts.access.get<Service>('', 'services', 'default', 'kubernetes')
  const serving = new RenewedPair((nowMs) => issueServing(options, api, authority, nowMs), now)
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

/** Starts periodic work: renewals, compaction, registration. The returned function stops it. */
async function startUpkeep(options: ServeOptions, { rules, storage, keys, server, door }: Opened) {
  const { dataDir, logger, release } = options
  const { plain, encryption } = storage
  const { listener, url } = door
  const stopRenewing = keepCertificates(options, door, keys, rules.authentication)
  encryption?.follow(server)
  const stopCompactor = startCompactor(storage.store, {
    clock: systemClock,
    ...history,
    onError: (error) => logger.warn('failed to compact history', { error }),
  })
  const stopWatchingLoop = watchLoop(server.metrics, server.health)
  const closeLocalDoor = await openLocalDoor(dataDir, {
    snapshot: answerSnapshot(plain),
    status: answerStatus({
      url,
      store: options.store,
      release,
      revision: () => plain.revision,
      storedBytes: () => plain.size(),
    }),
  })
  const live = server.parts.objects.isShared ? await showUp(options, server, listener.port, url) : undefined
  const common = live && bundleOf(options)
  if (common) keepBundle(dataDir, common)
  return async () => {
    await closeLocalDoor()
    await live?.stop()
    stopCompactor()
    encryption?.stop()
    stopWatchingLoop()
    stopRenewing()
  }
}

function running(options: ServeOptions, opened: Opened, stopUpkeep: () => Promise<void>): RunningApi {
  const { rules, storage, keys, server, door } = opened
  const { url, kubeconfig, listener } = door
  options.logger.info('serving the API', {
    url,
    kubeconfig,
    store: options.store,
    release: options.release,
    revision: storage.store.revision,
  })
  return {
    url,
    kubeconfig,
    server,
    authority: keys.authority.certificate,
    signer: keys.authority,
    isShared: server.parts.objects.isShared,
    async stop() {
      server.beginStop()
      await stopUpkeep()
      await rules.authentication.close()
      await listener.close(stopGraceMs)
      server.close()
      await rules.audit?.close()
      await storage.close()
    },
  }
}

/** Registers this server, so that clients and other servers of the cluster find it. */
async function showUp(
  options: ServeOptions,
  { parts: { access: objects } }: ApiServer,
  port: number,
  url: string,
): Promise<LiveServers> {
  const { dataDir, bindAddress, logger } = options
  // Stable for every start in this directory.
  const identity = createHash('sha256')
    .update(`${hostname()} ${path.resolve(dataDir)}`)
    .digest('hex')
    .slice(0, 16)
  const ip = addressFromElsewhere(bindAddress)
  const onServers = (addresses: readonly string[]) => {
    const others = addresses.filter((address) => address !== `${ip} ${port}`).map(urlOf)
    listServers(options, url, others)
  }
  const live = new LiveServers({ objects, identity, ip, port, onServers, clock: systemClock, logger })
  await live.start()
  return live
}

const urlOf = (address: string): string => {
  const [ip = '', port = ''] = address.split(' ')
  return `https://${reachable(ip)}:${port}`
}

/** Locks the data directory for this process. The LMDB driver locks its directory itself. */
const ownStoreDirectory = async ({ store, dataDir }: ServeOptions): Promise<() => Promise<void>> =>
  store === 'lmdb' ? async () => {} : ownDataDirectory(path.join(dataDir, 'db'))

function makeDataDir(dir: string): void {
  if (dir === '') throw new Error('--data-dir: must not be empty')
  try {
    makeDirectory(dir)
  } catch (e) {
    throw new Error(`--data-dir: ${(e as Error).message}`, { cause: e })
  }
}

function checkPrivacy({ dataDir, encryption, tokenAuthFile, logger }: ServeOptions): void {
  keepPrivate(dataDir, logger)
  if (encryption) warnIfOpen('--encryption-provider-config', encryption.configFile, logger)
  if (tokenAuthFile) warnIfOpen('--token-auth-file', tokenAuthFile, logger)
}

/** Returns the program of the parser threads, which is part of a build. A server run from sources has none. */
function parserProgram(): string | undefined {
  const file = path.join(import.meta.dirname, 'coxswain-parser.mjs')
  return existsSync(file) ? file : undefined
}
