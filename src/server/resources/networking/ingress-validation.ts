import type {
  HTTPIngressPath,
  Ingress,
  IngressBackend,
  IngressRule,
  IngressServiceBackend,
  IngressTLS,
} from '../../../api/generated/types.ts'
import { type FieldError, invalid, invalidEach, notSupported, required } from '../../../api/validation/field-error.ts'
import { parseIp, validateIp } from '../../../api/validation/ip.ts'
import {
  isDns1123Label,
  isDns1123Subdomain,
  isPathSegment,
  isPortName,
  isPortNumber,
  isWildcardDns1123Subdomain,
} from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { validateLoadBalancerHost } from '../core/service/service-validation.ts'

/** The legacy annotation with an ingress's class. */
export const classAnnotation = 'kubernetes.io/ingress.class'

const specPath = Path.of('spec')
const forbiddenSequences = ['//', '/./', '/../', '%2f', '%2F']
const forbiddenEndings = ['/..', '/.']

/** Rules that do not apply to an update if the stored object violates them already. */
interface Leniency {
  secretNames?: boolean
  wildcardRules?: boolean
}

const hostProblems = (host: string) =>
  host.includes('*') ? isWildcardDns1123Subdomain(host) : isDns1123Subdomain(host)

function validateServiceBackend({ name, port = {} }: IngressServiceBackend, path: Path): FieldError[] {
  const at = path.child('service')
  const errors = name ? invalidEach(at.child('name'), name, isDns1123Label(name)) : [required(at.child('name'))]
  if (port.name && port.number) errors.push(invalid(path, '', 'cannot set both port name & port number'))
  else if (port.name) errors.push(...invalidEach(at.child('port', 'name'), port.name, isPortName(port.name)))
  else if (port.number) errors.push(...invalidEach(at.child('port', 'number'), port.number, isPortNumber(port.number)))
  else errors.push(required(path, 'port name or number is required'))
  return errors
}

function validateBackend({ resource, service }: IngressBackend, path: Path): FieldError[] {
  if (resource && service) return [invalid(path, '', 'cannot set both resource and service backends')]
  if (resource) return validateTypedReference(resource, path.child('resource'))
  if (service) return validateServiceBackend(service, path)
  return [invalid(path, '', 'resource or service backend is required')]
}

function validatePath({ path: text = '', pathType, backend = {} }: HTTPIngressPath, path: Path): FieldError[] {
  if (!pathType) return [required(path.child('pathType'), 'pathType must be specified')]
  const errors: FieldError[] = []
  const refuse = (why: string) => errors.push(invalid(path.child('path'), text, why))
  switch (pathType) {
    case 'Exact':
    case 'Prefix':
      if (!text.startsWith('/')) refuse('must be an absolute path')
      for (const sequence of forbiddenSequences) if (text.includes(sequence)) refuse(`must not contain '${sequence}'`)
      for (const ending of forbiddenEndings) if (text.endsWith(ending)) refuse(`cannot end with '${ending}'`)
      break
    case 'ImplementationSpecific':
      if (text !== '' && !text.startsWith('/')) refuse('must be an absolute path')
      break
    default:
      errors.push(notSupported(path.child('pathType'), pathType, ['Exact', 'ImplementationSpecific', 'Prefix']))
  }
  return [...errors, ...validateBackend(backend, path.child('backend'))]
}

function validateRule({ host, http }: IngressRule, path: Path, leniency: Leniency): FieldError[] {
  const errors: FieldError[] = []
  if (host) {
    if (parseIp(host)) errors.push(invalid(path.child('host'), host, 'must be a DNS name, not an IP address'))
    errors.push(...invalidEach(path.child('host'), host, hostProblems(host)))
  }
  if (!http || (leniency.wildcardRules && host?.includes('*'))) return errors
  const paths = http.paths ?? []
  const pathsAt = path.child('http', 'paths')
  if (paths.length === 0) errors.push(required(pathsAt))
  for (const [i, p] of paths.entries()) errors.push(...validatePath(p, pathsAt.index(i)))
  return errors
}

function validateTls({ hosts = [], secretName = '' }: IngressTLS, path: Path, leniency: Leniency): FieldError[] {
  const errors = hosts.flatMap((host, i) => invalidEach(path.child('hosts').index(i), host, hostProblems(host)))
  if (secretName === '' || leniency.secretNames) return errors
  return [...errors, ...invalidEach(path.child('secretName'), secretName, isDns1123Subdomain(secretName))]
}

function validateSpec({ spec = {} }: Ingress, leniency: Leniency): FieldError[] {
  const { rules = [], tls = [], defaultBackend, ingressClassName: name } = spec
  const errors: FieldError[] = []
  if (rules.length === 0 && !defaultBackend) {
    errors.push(invalid(specPath, spec.rules, 'either `defaultBackend` or `rules` must be specified'))
  }
  if (defaultBackend) errors.push(...validateBackend(defaultBackend, specPath.child('defaultBackend')))
  for (const [i, rule] of rules.entries())
    errors.push(...validateRule(rule, specPath.child('rules').index(i), leniency))
  for (const [i, entry] of tls.entries()) errors.push(...validateTls(entry, specPath.child('tls').index(i), leniency))
  if (name !== undefined)
    errors.push(...invalidEach(specPath.child('ingressClassName'), name, isDns1123Subdomain(name)))
  return errors
}

/** Validates a new ingress. */
export function validateIngress(ingress: Ingress): FieldError[] {
  const errors = validateSpec(ingress, {})
  const annotation = ingress.metadata.annotations?.[classAnnotation]
  const name = ingress.spec?.ingressClassName
  if (annotation !== undefined && name !== undefined && annotation !== name) {
    errors.push(
      invalid(
        Path.of('annotations', classAnnotation),
        annotation,
        'must match `ingressClassName` when both are specified',
      ),
    )
  }
  return errors
}

/** Validates an update of an ingress. Stored values may be kept. */
export function validateIngressUpdate(ingress: Ingress, old: Ingress): FieldError[] {
  const isRefused = (rule: IngressRule) => validateRule(rule, specPath, {}).length > 0
  return validateSpec(ingress, {
    secretNames: (old.spec?.tls ?? []).some((t) => t.secretName && isDns1123Subdomain(t.secretName).length > 0),
    wildcardRules: (old.spec?.rules ?? []).some((r) => r.host?.includes('*') && isRefused(r)),
  })
}

/** Validates the load balancer status. */
export function validateIngressStatus(ingress: Ingress, old: Ingress): FieldError[] {
  const stored = (old.status?.loadBalancer?.ingress ?? []).flatMap((i) => i.ip || [])
  return (ingress.status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }, i) => {
    const at = Path.of('status', 'loadBalancer', 'ingress').index(i)
    const errors = ip ? validateIp(ip, at.child('ip'), stored) : []
    return hostname ? [...errors, ...validateLoadBalancerHost(hostname, at.child('hostname'))] : errors
  })
}

/** Validates a reference by group, kind and name. */
export function validateTypedReference(
  ref: { apiGroup?: string | null; kind?: string; name?: string },
  path: Path,
): FieldError[] {
  const errors: FieldError[] = []
  const { apiGroup } = ref
  if (apiGroup !== undefined && apiGroup !== null)
    errors.push(...isDns1123Subdomain(apiGroup).map((p) => invalid(path.child('apiGroup'), apiGroup, p)))
  for (const field of ['kind', 'name'] as const) {
    const value = ref[field]
    if (!value) errors.push(required(path.child(field)))
    else errors.push(...isPathSegment(value, false).map((p) => invalid(path.child(field), value, p)))
  }
  return errors
}
