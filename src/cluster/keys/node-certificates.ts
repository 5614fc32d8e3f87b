import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { CertificateSigningRequest, Node } from '../../api/generated/types.ts'
import { type WantedCertificate, makeRequest } from '../../api/x509/index.ts'
import type { Clock } from '../../base/clock.ts'
import { makeDirectory, replaceFile } from '../../base/durable-files.ts'
import type { Logger } from '../../base/logger.ts'
import type { Transport } from '../../client/index.ts'
import type { KeyPair } from '../../server/index.ts'

const requestsPath = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const pollMs = 500
/** Timeout for an approval, as in kubelet. */
const patienceMs = 15 * 60_000
const checkMs = 60_000
/** As in kubelet, a certificate is renewed after four fifths of its lifetime. */
const renewAt = 0.8

export const clientSigner = 'kubernetes.io/kube-apiserver-client-kubelet'
const servingSigner = 'kubernetes.io/kubelet-serving'

const userOf = (nodeName: string) => `system:node:${nodeName}`
const nodesGroup = 'system:nodes'

/** Input of a certificate request. */
export interface Asking {
  transport: Transport
  nodeName: string
  clock: Clock
  /** Cancels the wait for an approval. */
  signal?: AbortSignal
}

/** Requests a node's certificate with a CertificateSigningRequest, and waits until it is approved and signed. */
export async function requestCertificate(
  asking: Asking,
  signerName: string,
  names: WantedCertificate = {},
): Promise<KeyPair> {
  const { transport, nodeName, clock, signal } = asking
  const { request, key } = makeRequest({ ...names, commonName: userOf(nodeName), organizations: [nodesGroup] })
  const usages = ['digital signature', signerName === servingSigner ? 'server auth' : 'client auth']
  const body = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { generateName: 'csr-' },
    spec: { request: Buffer.from(request).toString('base64'), signerName, usages },
  }
  const made = await transport.send<CertificateSigningRequest>({ method: 'POST', path: requestsPath, body })
  const name = made.metadata.name!
  const end = clock.now() + patienceMs
  for (let csr = made; ;) {
    const { certificate, conditions = [] } = csr.status ?? {}
    if (certificate) return { certificate: Buffer.from(certificate, 'base64').toString(), key }
    const refused = conditions.find(({ type }) => type === 'Denied' || type === 'Failed')
    if (refused) throw new Error(`certificate request ${name}: ${refused.type}: ${refused.message ?? ''}`)
    if (clock.now() > end) throw new Error(`certificate request ${name} was not approved within 15 minutes`)
    await new Promise<void>((resolve) => clock.after(pollMs, resolve))
    signal?.throwIfAborted()
    csr = await transport.send<CertificateSigningRequest>({ method: 'GET', path: `${requestsPath}/${name}` })
  }
}

/** A file with a certificate and its key, which is replaced atomically. */
class PairFile {
  readonly file: string
  #pair: KeyPair | undefined

  constructor(file: string) {
    this.file = file
    const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    const key = text.indexOf('-----BEGIN PRIVATE KEY-----')
    if (key > 0) this.#pair = { certificate: text.slice(0, key), key: text.slice(key) }
  }

  get pair(): KeyPair | undefined {
    return this.#pair
  }

  write(pair: KeyPair): void {
    replaceFile(this.file, `${pair.certificate.trimEnd()}\n${pair.key}`)
    this.#pair = pair
  }

  /** Returns true if the file has a certificate for this node that has used less than `part` of its lifetime. */
  isValid(nodeName: string, nowMs: number, part = 1): boolean {
    if (!this.#pair) return false
    const { validFrom, validTo, subject } = new X509Certificate(this.#pair.certificate)
    const [fromMs, untilMs] = [Date.parse(validFrom), Date.parse(validTo)]
    const isOurs = subject.split('\n').includes(`CN=${userOf(nodeName)}`)
    return isOurs && nowMs >= fromMs && nowMs < fromMs + (untilMs - fromMs) * part
  }
}

/** The certificates of a joined node: for its API client, and for its own server. */
export class NodeCertificates {
  readonly client: PairFile
  readonly serving: PairFile
  readonly #nodeName: string
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #stopped = new AbortController()
  #cancel = () => {}

  constructor(dir: string, nodeName: string, clock: Clock, logger: Logger) {
    makeDirectory(dir)
    this.client = new PairFile(path.join(dir, 'node-client-current.pem'))
    this.serving = new PairFile(path.join(dir, 'node-serving-current.pem'))
    this.#nodeName = nodeName
    this.#clock = clock
    this.#logger = logger
  }

  /** Renews both before they expire. Calls `show` with each new serving certificate. */
  keep(transport: Transport, show: (pair: KeyPair) => void): void {
    const asking = { transport, nodeName: this.#nodeName, clock: this.#clock, signal: this.#stopped.signal }
    const check = async () => {
      const isDue = (file: PairFile) => !file.isValid(this.#nodeName, this.#clock.now(), renewAt)
      if (isDue(this.client)) this.#renewed('client', this.client, await requestCertificate(asking, clientSigner))
      if (!isDue(this.serving)) return
      const names = await namesOf(transport, this.#nodeName)
      if (!names) return
      const pair = await requestCertificate(asking, servingSigner, names)
      this.#renewed('serving', this.serving, pair)
      show(pair)
    }
    const again = () => {
      check()
        .catch((error: unknown) => {
          if (this.#stopped.signal.aborted) return
          this.#logger.warn('failed to renew a certificate of the node', { error })
        })
        .finally(() => (this.#cancel = this.#stopped.signal.aborted ? () => {} : this.#clock.after(checkMs, again)))
    }
    this.#cancel = this.#clock.after(1000, again)
  }

  #renewed(what: string, file: PairFile, pair: KeyPair): void {
    file.write(pair)
    this.#logger.info('issued a certificate for the node', { what, file: file.file })
  }

  stop(): void {
    this.#stopped.abort()
    this.#cancel()
  }
}

/** Returns the names and addresses in the Node's status; undefined while it has none. */
async function namesOf(transport: Transport, nodeName: string): Promise<WantedCertificate | undefined> {
  const { status } = await transport.send<Node>({ method: 'GET', path: `/api/v1/nodes/${nodeName}` })
  const told = (types: readonly string[]) =>
    (status?.addresses ?? []).filter(({ type }) => types.includes(type)).map(({ address }) => address)
  const [addresses, dns] = [told(['InternalIP', 'ExternalIP']), told(['Hostname', 'InternalDNS', 'ExternalDNS'])]
  return addresses.length + dns.length > 0 ? { addresses, dns } : undefined
}
