import type { HostAlias, PodDNSConfig, PodSpec } from '../../generated/types.ts'
import { notSupportedInOrder } from '../../validation/field-checks.ts'
import { type FieldError, forbidden, invalid, required, tooLong } from '../../validation/field-error.ts'
import { validateIp } from '../../validation/ip.ts'
import {
  byteLength,
  isDns1123Label,
  isDns1123Subdomain,
  maxLengthMessage,
  regexMessage,
} from '../../validation/names.ts'
import type { Path } from '../../validation/path.ts'

const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']
const maxNameservers = 3
const maxSearches = 32
const maxSearchCharacters = 2048
/** The kernel's limit for a host name. */
const maxHostname = 64

const searchDomain = /^_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*$/
const searchDomainMessage = regexMessage(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
  '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*',
  'example.com',
)

function validateSearch(search: string, path: Path, errors: FieldError[]): void {
  if (search === '.') return
  const domain = search.endsWith('.') ? search.slice(0, -1) : search
  if (byteLength(domain) > 253) errors.push(invalid(path, domain, maxLengthMessage(253)))
  if (!searchDomain.test(domain)) errors.push(invalid(path, domain, searchDomainMessage))
}

function validateDnsConfig(config: PodDNSConfig, path: Path, errors: FieldError[]): void {
  const { nameservers = [], searches = [], options = [] } = config
  if (nameservers.length > maxNameservers) {
    errors.push(
      invalid(path.child('nameservers'), nameservers, `must not have more than ${maxNameservers} nameservers`),
    )
  }
  for (const [i, server] of nameservers.entries())
    errors.push(...validateIp(server, path.child('nameservers').index(i)))
  if (searches.length > maxSearches) {
    errors.push(invalid(path.child('searches'), searches, `must not have more than ${maxSearches} search paths`))
  }
  if (byteLength(searches.join(' ')) > maxSearchCharacters) {
    errors.push(
      invalid(
        path.child('searches'),
        searches,
        `must not have more than ${maxSearchCharacters} characters (including spaces) in the search list`,
      ),
    )
  }
  for (const [i, search] of searches.entries()) validateSearch(search, path.child('searches').index(i), errors)
  for (const [i, option] of options.entries()) {
    if (!option.name) errors.push(required(path.child('options').index(i), 'must not be empty'))
  }
}

/** Validates the DNS policy of a pod. */
export function validateDnsPolicy(policy: string | undefined, path: Path, errors: FieldError[]): void {
  if (!policy) errors.push(required(path.child('dnsPolicy')))
  else if (!dnsPolicies.includes(policy)) errors.push(notSupportedInOrder(path.child('dnsPolicy'), policy, dnsPolicies))
}

/** Validates the DNS configuration of a pod, which policy None requires. */
export function validateDns(spec: PodSpec, path: Path, errors: FieldError[]): void {
  const { dnsConfig: config, dnsPolicy } = spec
  const at = path.child('dnsConfig')
  if (dnsPolicy === 'None' && !config) errors.push(required(at, 'must provide `dnsConfig` when `dnsPolicy` is None'))
  else if (dnsPolicy === 'None' && !config!.nameservers?.length) {
    errors.push(required(at.child('nameservers'), 'must provide at least one DNS nameserver when `dnsPolicy` is None'))
  } else if (config) validateDnsConfig(config, at, errors)
}

/** With hostNetwork, the host port must equal the container port. In a template, it may be absent. */
export function validateHostNetworkPorts(spec: PodSpec, isPod: boolean, path: Path, errors: FieldError[]): void {
  for (const [i, container] of (spec.containers ?? []).entries()) {
    for (const [j, port] of (container.ports ?? []).entries()) {
      const hostPort = port.hostPort ?? 0
      if ((!isPod && hostPort === 0) || hostPort === port.containerPort) continue
      const at = path.child('containers').index(i).child('ports').index(j).child('hostPort')
      errors.push(invalid(at, hostPort, 'must match `containerPort` when `hostNetwork` is true'))
    }
  }
}

/** A pod with its own user namespace must not share other namespaces with the host. */
export function validateHostUsers(spec: PodSpec, path: Path, errors: FieldError[]): void {
  if (spec.hostUsers !== false) return
  if (spec.hostNetwork) errors.push(forbidden(path.child('hostNetwork'), 'when `hostUsers` is false'))
  if (spec.hostPID) errors.push(forbidden(path.child('HostPID'), 'when `hostUsers` is false'))
  if (spec.hostIPC) errors.push(forbidden(path.child('HostIPC'), 'when `hostUsers` is false'))
}

/** Validates hostname, subdomain and hostnameOverride. */
export function validateHostnames(spec: PodSpec, path: Path, errors: FieldError[]): void {
  const { hostname, subdomain, hostnameOverride: override } = spec
  if (hostname)
    for (const problem of isDns1123Label(hostname)) errors.push(invalid(path.child('hostname'), hostname, problem))
  if (subdomain)
    for (const problem of isDns1123Label(subdomain)) errors.push(invalid(path.child('subdomain'), subdomain, problem))
  if (override === undefined) return
  const at = path.child('hostnameOverride')
  if (spec.hostNetwork) errors.push(forbidden(at, 'may not be specified when hostNetwork is true'))
  if (spec.setHostnameAsFQDN) {
    errors.push(forbidden(path.child('setHostnameAsFQDN'), 'may not be specified when hostnameOverride is set'))
  }
  if (byteLength(override) > maxHostname) errors.push(tooLong(at, maxHostname))
  for (const problem of isDns1123Subdomain(override)) errors.push(invalid(at, override, problem))
}

/** Validates the host aliases of a pod. */
export function validateHostAliases(aliases: readonly HostAlias[], path: Path, errors: FieldError[]): void {
  for (const [i, alias] of aliases.entries()) {
    errors.push(...validateIp(alias.ip ?? '', path.index(i).child('ip')))
    for (const [j, name] of (alias.hostnames ?? []).entries()) {
      for (const problem of isDns1123Subdomain(name))
        errors.push(invalid(path.index(i).child('hostnames').index(j), name, problem))
    }
  }
}
