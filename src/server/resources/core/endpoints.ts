import { kindNames } from '../../../api/kind-names.ts'
import { semanticEqual } from '../../../api/deep-equal.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { CoreV1EndpointPort, EndpointAddress, EndpointSubset, Endpoints } from '../../../api/generated/types.ts'
import { type FieldError, invalidEach, notSupported, required } from '../../../api/validation/field-error.ts'
import { isRoutableIp, validateIp } from '../../../api/validation/ip.ts'
import {
  isDns1123Label,
  isDns1123Subdomain,
  isPortNumber,
  isQualifiedName,
  subdomainName,
} from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'

const protocols = ['SCTP', 'TCP', 'UDP']
function validateAddress({ ip = '', hostname, nodeName }: EndpointAddress, path: Path): FieldError[] {
  return [
    ...validateIp(ip, path.child('ip')),
    ...(hostname ? invalidEach(path.child('hostname'), hostname, isDns1123Label(hostname)) : []),
    ...(nodeName !== undefined ? invalidEach(path.child('nodeName'), nodeName, isDns1123Subdomain(nodeName)) : []),
    ...invalidEach(path.child('ip'), ip, isRoutableIp(ip)),
  ]
}

function validatePort(
  { name, port = 0, protocol, appProtocol }: CoreV1EndpointPort,
  needsName: boolean,
  path: Path,
): FieldError[] {
  const errors: FieldError[] = []
  if (name) errors.push(...invalidEach(path.child('name'), name, isDns1123Label(name)))
  else if (needsName) errors.push(required(path.child('name')))
  errors.push(...invalidEach(path.child('port'), port, isPortNumber(port)))
  if (!protocol) errors.push(required(path.child('protocol')))
  else if (!protocols.includes(protocol)) errors.push(notSupported(path.child('protocol'), protocol, protocols))
  if (appProtocol !== undefined)
    errors.push(...invalidEach(path.child('appProtocol'), appProtocol, isQualifiedName(appProtocol)))
  return errors
}

function validateSubset(
  { addresses = [], notReadyAddresses = [], ports = [] }: EndpointSubset,
  path: Path,
): FieldError[] {
  const errors: FieldError[] = []
  if (addresses.length + notReadyAddresses.length === 0)
    errors.push(required(path, 'must specify `addresses` or `notReadyAddresses`'))
  for (const [i, a] of addresses.entries()) errors.push(...validateAddress(a, path.child('addresses').index(i)))
  for (const [i, a] of notReadyAddresses.entries())
    errors.push(...validateAddress(a, path.child('notReadyAddresses').index(i)))
  for (const [i, p] of ports.entries()) errors.push(...validatePort(p, ports.length > 1, path.child('ports').index(i)))
  return errors
}

const validate = ({ subsets = [] }: Endpoints): FieldError[] =>
  subsets.flatMap((s, i) => validateSubset(s, Path.of('subsets').index(i)))

const shownAddresses = 3

/** Formats the first three endpoints and the number of further ones. */
function endpointsText({ subsets = [] }: Endpoints): string {
  if (subsets.length === 0) return '<none>'
  const places = subsets.flatMap(({ addresses = [], ports = [] }) => {
    if (ports.length === 0) return addresses.map((a) => a.ip)
    return ports.flatMap(({ port }) =>
      addresses.map(({ ip }) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)),
    )
  })
  const shown = places.slice(0, shownAddresses).join(',')
  return places.length > shownAddresses ? `${shown} + ${places.length - shownAddresses} more...` : shown
}

/** core/v1 Endpoints. */
export const endpoints = defineResource<Endpoints>({
  ...kindNames.endpoints,
  nameRule: subdomainName,
  defaults(obj) {
    for (const subset of obj.subsets ?? []) for (const port of subset.ports ?? []) port.protocol ||= 'TCP'
  },
  validate,
  // Unchanged subsets that are invalid today are accepted.
  validateUpdate: (obj, old) => (semanticEqual(obj.subsets, old.subsets) ? [] : validate(obj)),
  warnings: () => ['v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice'],
  allowCreateOnUpdate: true,
  columns: [
    nameColumn(),
    {
      name: 'Endpoints',
      type: 'string',
      description: () => describeField('Endpoints', 'subsets'),
      cell: endpointsText,
    },
    ageColumn(),
  ],
})
