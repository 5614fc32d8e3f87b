import { X509Certificate } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import { pemBlocks } from '../../api/x509/index.ts'
import { systemClock } from '../../base/clock.ts'
import type { ShownCertificate } from '../auth/authenticators/client-certificate.ts'

/** The authorities of client certificates, as they are now. */
export interface ClientTrust {
  readonly clients: readonly X509Certificate[]
  readonly proxies: readonly X509Certificate[]
  /** All of them in PEM, for TLS. */
  readonly all: string[]
  /** Who vouches for a certificate, by its fingerprint: a resumed session does not show intermediates again. */
  readonly known: Map<string, Vouched>
}

interface Vouched {
  clients: boolean
  proxies: boolean
}

interface Known {
  trust: ClientTrust | undefined
  shown: ShownCertificate | undefined
  fromMs: number
  untilMs: number
  outOfTime?: ShownCertificate
}

const mostKnown = 10_000
/** The longest chain of intermediates that is followed. */
const longestChain = 10
const uidAttribute = '1.3.6.1.4.1.57683.2'

const certificatesIn = (texts: readonly string[]): X509Certificate[] =>
  texts.flatMap((text) =>
    pemBlocks(text)
      .filter(({ label }) => label === 'CERTIFICATE')
      .map(({ bytes }) => new X509Certificate(bytes)),
  )

export function clientTrust(given: {
  clientAuthorities: readonly string[]
  proxyAuthorities?: readonly string[] | undefined
}): ClientTrust {
  const { clientAuthorities, proxyAuthorities = [] } = given
  return {
    clients: certificatesIn(clientAuthorities),
    proxies: certificatesIn(proxyAuthorities),
    all: [...clientAuthorities, ...proxyAuthorities],
    known: new Map(),
  }
}

const trusts = new WeakMap<TLSSocket, () => ClientTrust>()
const certificates = new WeakMap<TLSSocket, Known>()

/** Sets the authorities by which the certificate of a connection is judged, at each request. */
export const trustConnection = (socket: TLSSocket, trust: () => ClientTrust): void => void trusts.set(socket, trust)

/**
 * The certificate that the client of a connection has shown, read once for each connection and set of authorities. As
 * in Kubernetes, its time is judged at each request: a connection does not outlive its certificate.
 */
export function certificateOf(socket: TLSSocket): ShownCertificate | undefined {
  const trust = trusts.get(socket)?.()
  let known = certificates.get(socket)
  if (!known || known.trust !== trust) certificates.set(socket, (known = readCertificate(socket, trust)))
  const { shown } = known
  if (!shown || shown.problem !== undefined) return shown
  // TLS judges certificates by the machine's time, whatever clock the server has.
  const nowMs = systemClock.now()
  if (nowMs >= known.fromMs && nowMs <= known.untilMs) return shown
  return (known.outOfTime ??= { ...shown, problem: 'the certificate has expired or is not yet valid' })
}

function readCertificate(socket: TLSSocket, trust: ClientTrust | undefined): Known {
  const leaf = socket.getPeerX509Certificate?.()
  const subject = socket.getPeerCertificate?.()?.subject as Record<string, string | string[] | undefined> | undefined
  if (!leaf || !subject) return { trust, shown: undefined, fromMs: 0, untilMs: 0 }
  const common = valuesOf(subject['CN'])
  const shown: ShownCertificate = {
    // As in Go, the last common name counts.
    commonName: common.at(-1) ?? '',
    organizations: valuesOf(subject['O']),
    uid: valuesOf(subject[uidAttribute])[0],
    fingerprint: leaf.fingerprint256.replaceAll(':', '').toLowerCase(),
    ...judge(socket, leaf, trust),
  }
  return { trust, shown, fromMs: Date.parse(leaf.validFrom), untilMs: Date.parse(leaf.validTo) }
}

const valuesOf = (value: string | string[] | undefined): string[] => (value === undefined ? [] : [value].flat())

/** TLS has checked the chain, its times and that it is for clients. Here it is found whose authority that was. */
function judge(socket: TLSSocket, leaf: X509Certificate, trust: ClientTrust | undefined): Partial<ShownCertificate> {
  if (!socket.authorized) return { problem: String(socket.authorizationError ?? 'the certificate was not verified') }
  if (!trust) return {}
  const vouched = trust.known.get(leaf.fingerprint256) ?? {
    clients: isVouchedFor(leaf, trust.clients),
    proxies: isVouchedFor(leaf, trust.proxies),
  }
  if (!vouched.clients && !vouched.proxies) return { problem: 'the certificate is signed by an unknown authority' }
  if (trust.known.size < mostKnown) trust.known.set(leaf.fingerprint256, vouched)
  return { isProxy: vouched.proxies, isOnlyProxy: !vouched.clients }
}

/** True if one of the authorities has signed the certificate, or an intermediate of its chain. */
function isVouchedFor(leaf: X509Certificate, authorities: readonly X509Certificate[]): boolean {
  let at: X509Certificate | undefined = leaf
  for (let i = 0; i < longestChain && at; i++) {
    const current: X509Certificate = at
    if (authorities.some((ca) => current.checkIssued(ca) && current.verify(ca.publicKey))) return true
    const next: X509Certificate | undefined = current.issuerCertificate
    at = next?.ca && next.fingerprint256 !== current.fingerprint256 && current.verify(next.publicKey) ? next : undefined
  }
  return false
}
