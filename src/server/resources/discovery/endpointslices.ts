import { kindNames } from '../../../api/kind-names.ts'
import { deepEqual } from '../../../api/deep-equal.ts'
import type { DiscoveryV1EndpointPort, Endpoint, EndpointHints, EndpointSlice } from '../../../api/generated/types.ts'
import { validateImmutableField } from '../../../api/validation/field-checks.ts'
import {
  type FieldError,
  duplicate,
  invalid,
  invalidEach,
  notSupported,
  required,
  tooMany,
} from '../../../api/validation/field-error.ts'
import { ipFamilyOf, ipWarnings, isRoutableIp, validateIp } from '../../../api/validation/ip.ts'
import {
  isDns1123Label,
  isDns1123Subdomain,
  isLabelValue,
  isQualifiedName,
  subdomainName,
} from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'

const addressTypes = ['FQDN', 'IPv4', 'IPv6']
const protocols = ['SCTP', 'TCP', 'UDP']
const maxEndpoints = 1000
const maxAddresses = 100
const maxPorts = 20000
const maxHints = 8
const endpointsPath = Path.of('endpoints')
const portsPath = Path.of('ports')

function validateDomainName(text: string, path: Path): FieldError[] {
  if (text === '') return [required(path)]
  const name = text.replace(/\.$/, '')
  const found = isDns1123Subdomain(name)
  if (found.length) return [invalid(path, name, found.join(','))]
  const labels = name.split('.')
  if (labels.length < 2) return [invalid(path, name, 'should be a domain with at least two segments separated by dots')]
  return labels.flatMap((label) => {
    const wrong = isDns1123Label(label)
    return wrong.length ? [invalid(path, label, wrong.join(','))] : []
  })
}

function validateAddress(
  address: string,
  type: string,
  path: Path,
  i: number,
  stored: readonly string[],
): FieldError[] {
  if (type === 'FQDN') return validateDomainName(address, path.index(i))
  if (type !== 'IPv4' && type !== 'IPv6') return []
  const malformed = validateIp(address, path.index(i), stored)
  if (malformed.length) return malformed
  if (ipFamilyOf(address) !== type) return [invalid(path, address, `must be an ${type} address`)]
  return invalidEach(path.index(i), address, isRoutableIp(address))
}

function validateHints({ forZones = [], forNodes = [] }: EndpointHints, path: Path): FieldError[] {
  const judge = (hints: readonly { name: string }[], at: Path, rule: (name: string) => string[]): FieldError[] => {
    if (hints.length > maxHints) return [tooMany(at, hints.length, maxHints)]
    const seen = new Set<string>()
    return hints.flatMap(({ name = '' }, i) => {
      const nameAt = at.index(i).child('name')
      const errors = seen.has(name) ? [duplicate(nameAt, name)] : []
      seen.add(name)
      return [...errors, ...invalidEach(nameAt, name, rule(name))]
    })
  }
  return [
    ...judge(forZones, path.child('forZones'), isLabelValue),
    ...judge(forNodes, path.child('forNodes'), isDns1123Subdomain),
  ]
}

function validateEndpoint(endpoint: Endpoint, type: string, path: Path, stored: readonly string[]): FieldError[] {
  const { hostname, nodeName, hints } = endpoint
  const addresses = endpoint.addresses ?? []
  const addressesPath = path.child('addresses')
  const errors: FieldError[] = []
  if (addresses.length === 0) errors.push(required(addressesPath, 'must contain at least 1 address'))
  else if (addresses.length > maxAddresses) errors.push(tooMany(addressesPath, addresses.length, maxAddresses))
  for (const [i, address] of addresses.entries())
    errors.push(...validateAddress(address, type, addressesPath, i, stored))
  if (nodeName !== undefined)
    errors.push(...invalidEach(path.child('nodeName'), nodeName, isDns1123Subdomain(nodeName)))
  if (hostname !== undefined) errors.push(...invalidEach(path.child('hostname'), hostname, isDns1123Label(hostname)))
  if (hints) errors.push(...validateHints(hints, path.child('hints')))
  return errors
}

function validatePorts(ports: readonly DiscoveryV1EndpointPort[]): FieldError[] {
  if (ports.length > maxPorts) return [tooMany(portsPath, ports.length, maxPorts)]
  const names = new Set<string>()
  return ports.flatMap(({ name = '', protocol, appProtocol }, i) => {
    const path = portsPath.index(i)
    const errors = name ? invalidEach(path.child('name'), name, isDns1123Label(name)) : []
    if (names.has(name)) errors.push(duplicate(path.child('name'), name))
    names.add(name)
    if (!protocol) errors.push(required(path.child('protocol')))
    else if (!protocols.includes(protocol)) errors.push(notSupported(path.child('protocol'), protocol, protocols))
    if (appProtocol !== undefined)
      errors.push(...invalidEach(path.child('appProtocol'), appProtocol, isQualifiedName(appProtocol)))
    return errors
  })
}

function validate(slice: EndpointSlice, old?: EndpointSlice): FieldError[] {
  const type = slice.addressType ?? ''
  const list = slice.endpoints ?? []
  const errors: FieldError[] = []
  if (type === '') errors.push(required(Path.of('addressType')))
  else if (!addressTypes.includes(type)) errors.push(notSupported(Path.of('addressType'), type, addressTypes))
  if (list.length > maxEndpoints) {
    errors.push(tooMany(endpointsPath, list.length, maxEndpoints))
  } else {
    const stored = (old?.endpoints ?? []).flatMap((e) => e.addresses ?? [])
    for (const [i, endpoint] of list.entries())
      errors.push(...validateEndpoint(endpoint, type, endpointsPath.index(i), stored))
  }
  return [...errors, ...validatePorts(slice.ports ?? [])]
}

/** Drops topology labels, a field of the beta version. */
function dropTopology(slice: EndpointSlice): void {
  for (const endpoint of slice.endpoints ?? []) endpoint.deprecatedTopology = undefined
}

function warnings(slice: EndpointSlice): string[] {
  if (slice.addressType === 'FQDN') return ['spec.addressType: FQDN endpoints are deprecated']
  return (slice.endpoints ?? []).flatMap((e, i) =>
    (e.addresses ?? []).flatMap((a, j) => ipWarnings(endpointsPath.index(i).child('addresses').index(j), a)),
  )
}

/** Formats the first three items and the number of further ones. */
function listText(items: readonly string[]): string {
  const shown = items.slice(0, 3).join(',')
  return (items.length > 3 ? `${shown} + ${items.length - 3} more...` : shown) || '<unset>'
}

function portsText(slice: EndpointSlice): string {
  const ports = slice.ports ?? []
  return listText(ports.map((p) => (p.port === undefined ? (p.name ?? '*') : String(p.port))))
}

function addressesText(slice: EndpointSlice): string {
  return listText((slice.endpoints ?? []).flatMap((e) => e.addresses ?? []))
}

export const endpointslices = defineResource<EndpointSlice>({
  ...kindNames.endpointslices,
  nameRule: subdomainName,
  defaults(slice) {
    for (const port of slice.ports ?? []) {
      port.name ??= ''
      port.protocol ??= 'TCP'
    }
  },
  prepareForCreate: dropTopology,
  prepareForUpdate: dropTopology,
  validate: (slice) => validate(slice),
  validateUpdate: (slice, old) => [
    ...validate(slice, old),
    ...validateImmutableField(slice.addressType, old.addressType, Path.of('addressType')),
  ],
  warnings,
  generation: {
    changed: (slice, old) =>
      !deepEqual({ ...slice, metadata: slice.metadata.labels }, { ...old, metadata: old.metadata.labels }),
  },
  columns: [
    nameColumn(),
    {
      name: 'AddressType',
      type: 'string',
      description:
        'addressType specifies the type of address carried by this EndpointSlice. All addresses in this slice must be the same type. ' +
        'This field is immutable after creation. The following address types are currently supported: * IPv4: Represents an IPv4 ' +
        'Address. * IPv6: Represents an IPv6 Address. * FQDN: Represents a Fully Qualified Domain Name.',
      cell: (slice) => slice.addressType ?? '',
    },
    {
      name: 'Ports',
      type: 'string',
      description:
        'ports specifies the list of network ports exposed by each endpoint in this slice. Each port must have a unique name. When ' +
        'ports is empty, it indicates that there are no defined ports. When a port is defined with a nil port value, it indicates ' +
        '"all ports". Each slice may include a maximum of 100 ports.',
      cell: portsText,
    },
    {
      name: 'Endpoints',
      type: 'string',
      description:
        'endpoints is a list of unique endpoints in this slice. Each slice may include a maximum of 1000 endpoints.',
      cell: addressesText,
    },
    ageColumn(),
  ],
})
