import type { TablesOf } from '#core/db'
import type { EmailAddress, Identity, Look, UserRecord } from '#core/identity'

type Tables = TablesOf<typeof EmailAddress>

/** Addresses of people in commits → their accounts as records; the keys are lower-case. One query. */
export async function accountsByEmail(
  { records, noReplyDomain }: Pick<Identity, 'records' | 'noReplyDomain'>,
  addresses: Iterable<string>,
  look: Look,
): Promise<ReadonlyMap<string, UserRecord>> {
  const wanted = [...new Set([...addresses].map((address) => address.toLowerCase()).filter(isAskable))]
  if (wanted.length === 0) return new Map()
  const hidden = hiddenAddresses(wanted, noReplyDomain().toLowerCase())
  const rows = await records
    .rows<Tables>()
    .leftJoin('email_address', (join) =>
      join
        .onRef('email_address.account_id', '=', 'account.id')
        .on('email_address.is_activated', '=', true)
        .on('email_address.lower_address', 'in', wanted),
    )
    .select('email_address.lower_address as address')
    .where((eb) =>
      eb.or([
        eb(
          'account.id',
          'in',
          eb
            .selectFrom('email_address as known')
            .select('known.account_id')
            .where('known.lower_address', 'in', wanted)
            .where('known.is_activated', '=', true),
        ),
        ...(hidden.byId.size > 0 ? [eb('account.id', 'in', [...hidden.byId.keys()])] : []),
        ...(hidden.byName.size > 0 ? [eb('account.lower_name', 'in', [...hidden.byName.keys()])] : []),
      ]),
    )
    .execute()
  const shown = records.show(rows, look)
  const found = new Map<string, UserRecord>()
  for (const [at, { address }] of rows.entries()) {
    const account = shown[at] as UserRecord
    const stands = [address, hidden.byId.get(account.id), hidden.byName.get(account.login.toLowerCase())]
    for (const known of stands) if (known) found.set(known, account)
  }
  return found
}

const isAskable = (address: string) => address !== '' && address.length <= 254 && !address.includes('\0')

/** `7+alice@noreply.host` and `alice@noreply.host`, which stand for addresses that their owners hide. */
function hiddenAddresses(addresses: readonly string[], domain: string) {
  const byId = new Map<number, string>()
  const byName = new Map<string, string>()
  for (const address of addresses) {
    if (!address.endsWith(`@${domain}`)) continue
    const [, id, name = ''] = /^(?:(\d{1,15})\+)?([^@]+)@/.exec(address) ?? []
    if (id !== undefined) byId.set(Number(id), address)
    else if (name !== '') byName.set(name, address)
  }
  return { byId, byName }
}
