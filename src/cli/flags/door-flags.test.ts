import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { addDoorFlags, readDoorFlags } from './door-flags.ts'

const read = (...args: string[]) => {
  const command = addDoorFlags(new Command('x').exitOverride().configureOutput({ writeErr: () => {} }).option('--data-dir <dir>', '', 'd').option('--bind-address <address>', '', '127.0.0.1'))
  return readDoorFlags(command.parse(args, { from: 'user' }))
}

const own = { kind: 'authority', dir: 'd', names: [] }
const allowed = { alwaysAllowPaths: ['/healthz', '/readyz', '/livez'] }

describe('the flags of a door', () => {
  it.each<[string, string[], object]>([
    ['let everybody in on a loopback address', [], { serving: own }],
    ['ask who comes from elsewhere', ['--bind-address', '0.0.0.0'], { serving: own, ...allowed }],
    ['ask who comes from here if they are told to', ['--authorize-scrapes', '--authorization-always-allow-paths', '/livez,/debug/*'], { serving: own, alwaysAllowPaths: ['/livez', '/debug/*'] }],
    ['do not ask if they are told so', ['--bind-address', '::', '--authorize-scrapes=false'], { serving: own }],
    ['take certificates from files', ['--tls-cert-file', 'c', '--tls-private-key-file', 'k', '--client-ca-file', 'a'], { serving: { kind: 'files', certificate: 'c', key: 'k' }, clientCaFile: 'a' }],
    ['take names for certificates', ['--tls-names', 'a.b.svc,10.0.0.1'], { serving: { ...own, names: ['a.b.svc', '10.0.0.1'] } }],
    ['allow no path at all', ['--authorize-scrapes', '--authorization-always-allow-paths', ''], { serving: own, alwaysAllowPaths: [] }],
    ['take a name for all of a domain', ['--tls-names', '*.a.b,::1'], { serving: { ...own, names: ['*.a.b', '::1'] } }],
    ['do without TLS', ['--insecure-http'], { serving: { kind: 'plain' } }],
  ])('%s', (_, args, expected) => expect(read(...args)).toEqual(expected))

  it.each<[string, string[], RegExp]>([
    ['a certificate without its key', ['--tls-cert-file', 'c'], /must be specified together/],
    ['no TLS for others', ['--insecure-http', '--bind-address', '0.0.0.0'], /not a loopback address/],
    ['no TLS, and names for a certificate', ['--insecure-http', '--tls-names', 'a.b'], /leave --tls-names out/],
    ['no TLS, and certificates of clients', ['--insecure-http', '--client-ca-file', 'a'], /leave --client-ca-file out/],
    ['a certificate, and names for another', ['--tls-cert-file', 'c', '--tls-private-key-file', 'k', '--tls-names', 'a.b'], /--tls-names: .* leave one of both out/],
    ['names that are none', ['--tls-names', 'a b'], /must be DNS names/],
    ['no names at all', ['--tls-names', ''], /must be DNS names/],
    ['a path that is none', ['--authorize-scrapes', '--authorization-always-allow-paths', '/livez,metrics'], /"metrics" must begin with \//],
    ['a path with * in it', ['--authorize-scrapes', '--authorization-always-allow-paths', '/*/x'], /at its end only/],
    ['paths where nobody is asked', ['--authorization-always-allow-paths', '/livez'], /use --authorize-scrapes/],
    ['no TLS, and a certificate', ['--insecure-http', '--tls-cert-file', 'c', '--tls-private-key-file', 'k'], /no certificate without TLS/],
  ])('are refused: %s', (_, args, message) => expect(() => read(...args)).toThrow(message))
})
