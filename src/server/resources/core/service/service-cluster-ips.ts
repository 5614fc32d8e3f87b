import type { Service } from '../../../../api/generated/types.ts'
import { type FieldError, duplicate, invalid, notSupported, required } from '../../../../api/validation/field-error.ts'
import { type IpFamily, ipFamilyOf, validateIp } from '../../../../api/validation/ip.ts'
import { Path } from '../../../../api/validation/path.ts'
import { repeatedPlaces } from '../../../../api/validation/field-checks.ts'
import { hasSameClusterIps, hasSameIpFamilies, isHeadless } from './service-fields.ts'

const clusterIpsPath = Path.of('spec', 'clusterIPs')
const familiesPath = Path.of('spec', 'ipFamilies')
const policyPath = Path.of('spec', 'ipFamilyPolicy')

/** Validates clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy, alone and against each other. */
export function validateClusterIpFields(service: Service, old?: Service): FieldError[] {
  const {
    type,
    clusterIP = '',
    clusterIPs: ips = [],
    ipFamilies: families = [],
    ipFamilyPolicy: policy,
  } = service.spec ?? {}
  if (type === 'ExternalName') return []
  const errors: FieldError[] = []
  if (clusterIP !== '') {
    if (ips.length === 0) errors.push(required(clusterIpsPath))
    else if (ips[0] !== clusterIP) errors.push(invalid(clusterIpsPath, ips, 'first value must match `clusterIP`'))
  } else if (ips.length > 0) {
    errors.push(invalid(clusterIpsPath, ips, 'must be empty when `clusterIP` is not specified'))
  }
  const repeated = repeatedPlaces(families)
  for (const [i, family] of families.entries()) {
    if (family !== 'IPv4' && family !== 'IPv6')
      errors.push(notSupported(familiesPath.index(i), family, ['IPv4', 'IPv6']))
    if (repeated.has(i)) errors.push(duplicate(familiesPath.index(i), family))
  }
  if (policy !== undefined && !['SingleStack', 'PreferDualStack', 'RequireDualStack'].includes(policy)) {
    errors.push(notSupported(policyPath, policy, ['SingleStack', 'PreferDualStack', 'RequireDualStack']))
  }
  const problems = validateAddresses(ips, old?.spec?.clusterIPs ?? [])
  errors.push(...problems)
  if (ips.length > 2) errors.push(invalid(clusterIpsPath, ips, 'may only hold up to 2 values'))
  // Further errors would only repeat that the addresses are invalid.
  if (problems.length) return errors
  if (ips.length > 1 && new Set(ips.map(ipFamilyOf)).size !== 2) {
    errors.push(invalid(clusterIpsPath, ips, 'may specify no more than one IP for each IP family'))
  }
  if (!isHeadless(service)) {
    for (const [i, ip] of ips.entries()) {
      const wanted = families[i]
      if ((wanted === 'IPv4' || wanted === 'IPv6') && ipFamilyOf(ip) !== wanted) {
        errors.push(
          invalid(clusterIpsPath.index(i), ip, `expected an ${wanted} value as indicated by \`ipFamilies[${i}]\``),
        )
      }
    }
  }
  return errors
}

function validateAddresses(ips: readonly string[], stored: readonly string[]): FieldError[] {
  return ips.flatMap((ip, i) => {
    if (i > 0 || ip !== 'None') return validateIp(ip, clusterIpsPath.index(i), stored)
    return ips.length > 1 ? [invalid(clusterIpsPath, ips, "'None' must be the first and only value")] : []
  })
}

const otherFamily = (family: string): IpFamily => (family === 'IPv4' ? 'IPv6' : 'IPv4')

/** True if a service keeps its families, whatever families the cluster offers now. */
export function keepsPreferredFamilies(service: Service, old: Service | undefined): boolean {
  const { type, ipFamilyPolicy: policy } = service.spec ?? {}
  if (!old || policy !== 'PreferDualStack' || (old.spec?.ipFamilyPolicy ?? policy) !== policy) return false
  if (type !== old.spec?.type || !['ClusterIP', 'NodePort', 'LoadBalancer'].includes(type ?? '')) return false
  return hasSameClusterIps(service, old) && hasSameIpFamilies(service, old)
}

/** Applies ipFamilyPolicy and ipFamilies for a cluster with the `configured` families, and returns errors. */
export function fillIpFamilies(
  service: Service,
  old: Service | undefined,
  configured: readonly IpFamily[],
): FieldError[] {
  const spec = (service.spec ??= {})
  if (spec.type === 'ExternalName' || keepsPreferredFamilies(service, old)) return []
  // A headless service without a selector needs no allocation, and may have both families.
  const isFree = spec.clusterIP === 'None' && Object.keys(spec.selector ?? {}).length === 0
  spec.ipFamilyPolicy ??= old?.spec?.ipFamilyPolicy ?? (isFree ? 'RequireDualStack' : 'SingleStack')

  const malformed = validateClusterIpFields(service, old)
  if (malformed.length) return malformed
  const errors = old ? releaseSecond(service, old) : []
  errors.push(...checkPolicy(service))
  errors.push(...inferFamilies(service, configured))
  if (errors.length) return errors

  if (isFree) {
    const families = (spec.ipFamilies = spec.ipFamilies?.length ? spec.ipFamilies : [configured[0]!])
    if (families.length < 2 && spec.ipFamilyPolicy !== 'SingleStack') families.push(otherFamily(families[0]!))
    return []
  }
  if (spec.ipFamilyPolicy === 'RequireDualStack' && configured.length < 2) {
    errors.push(invalid(policyPath, spec.ipFamilyPolicy, 'this cluster is not configured for dual-stack services'))
  }
  for (const [i, family] of (spec.ipFamilies ?? []).entries()) {
    if (!configured.includes(family as IpFamily))
      errors.push(invalid(familiesPath.index(i), family, 'not configured on this cluster'))
  }
  if (errors.length) return errors
  const families = (spec.ipFamilies = spec.ipFamilies?.length ? spec.ipFamilies : [configured[0]!])
  if (families.length === 1 && configured.length === 2 && spec.ipFamilyPolicy !== 'SingleStack')
    families.push(otherFamily(families[0]!))
  return []
}

/** Removes the second family if the policy is SingleStack. Both lists may be unchanged then. */
function releaseSecond(service: Service, old: Service): FieldError[] {
  const spec = service.spec!
  const { clusterIPs: ips = [], ipFamilies: families = [] } = spec
  if (spec.ipFamilyPolicy === 'SingleStack') {
    if (ips.length > 1 && hasSameClusterIps(service, old)) spec.clusterIPs = ips.slice(0, 1)
    if (families.length > 1 && hasSameIpFamilies(service, old)) spec.ipFamilies = families.slice(0, 1)
    return []
  }
  const errors: FieldError[] = []
  const isReduced = (now: readonly string[], before: readonly string[] = []) =>
    now.length > 0 && now.length < before.length
  if (isReduced(ips, old.spec?.clusterIPs)) {
    errors.push(invalid(policyPath, spec.ipFamilyPolicy, "must be 'SingleStack' to release the secondary cluster IP"))
  }
  if (isReduced(families, old.spec?.ipFamilies)) {
    errors.push(invalid(policyPath, spec.ipFamilyPolicy, "must be 'SingleStack' to release the secondary IP family"))
  }
  return errors
}

function checkPolicy(service: Service): FieldError[] {
  const { ipFamilyPolicy: policy, clusterIPs = [], ipFamilies = [] } = service.spec!
  if (policy !== 'SingleStack') return []
  const errors: FieldError[] = []
  const sentence = (what: string) =>
    `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`
  if (clusterIPs.length === 2) errors.push(invalid(policyPath, policy, sentence('cluster IPs')))
  if (ipFamilies.length === 2) errors.push(invalid(policyPath, policy, sentence('IP families')))
  return errors
}

/** Infers families from requested addresses. */
function inferFamilies(service: Service, configured: readonly IpFamily[]): FieldError[] {
  const spec = service.spec!
  const errors: FieldError[] = []
  for (const [i, ip] of (spec.clusterIPs ?? []).entries()) {
    if (ip === 'None') break
    if (i < (spec.ipFamilies?.length ?? 0)) continue
    const family = ipFamilyOf(ip)!
    if (configured.includes(family)) spec.ipFamilies = [...(spec.ipFamilies ?? []), family]
    else errors.push(invalid(clusterIpsPath.index(i), spec.clusterIPs, `${family} is not configured on this cluster`))
  }
  return errors
}
