/** The address of a notification: a webhook, or a mail server. Secrets are named in it, and may not choose the host. */
import { type Capabilities, NebulaError } from '@nebula/core';
import { NOTIFICATION_LIMITS } from '../limits.ts';
import type { NotificationRecord } from './records.ts';

export type Addressed = Pick<NotificationRecord, 'url' | 'secret' | 'network'>;

export interface Webhook {
  readonly channel: 'webhook';
  readonly url: URL;
}

export interface Mail {
  readonly channel: 'mail';
  /** IPv6 in brackets. */
  readonly host: string;
  readonly port: number;
  /** `wrapped`: TLS from the first byte; `starttls`: TLS is required before anything else is sent. */
  readonly tls: 'wrapped' | 'starttls' | 'none';
  readonly from: MailAddress;
  readonly to: readonly MailAddress[];
  /** Names of secrets of the project. */
  readonly login: { readonly user: string; readonly password: string } | null;
}

export interface MailAddress {
  readonly name: string;
  readonly address: string;
}

export type Target = Webhook | Mail;

/** In records of the configuration: a program. Its arguments are not in the record. */
export const COMMAND_URL = 'command:';

export function channelOf(addressed: Pick<Addressed, 'url'>): 'webhook' | 'mail' | 'command' {
  if (isCommand(addressed)) return 'command';
  return /^smtps?:/i.test(addressed.url) ? 'mail' : 'webhook';
}

export function isCommand({ url }: Pick<Addressed, 'url'>): boolean {
  return url.startsWith(COMMAND_URL);
}

const DEFAULT_PORTS = { 'smtps:': 465, 'smtp:': 587 } as const;
const SECRET_NAME = /^\{\{([A-Za-z0-9_-]{1,128})\}\}$/;
const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]{0,252})|\[[0-9a-f:.]+\])$/i;
/** No character of these ends a header or a part of an address: controls, quotes and separators. */
const ADDRESS = /^[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]{1,64}@[\p{L}\p{N}.-]{1,189}$/u;
const DISPLAY_NAME = /^[\p{L}\p{N} .&'_-]{1,100}$/u;

/** Throws `BODY_INVALID` for an address that cannot be used. */
export function targetOf(addressed: Addressed): Target {
  const { url: text } = addressed;
  // The parser drops line breaks and tabs; the address would not be the one that was written.
  const url = /\p{Cc}/u.test(text) ? null : URL.parse(text);
  if (url?.protocol === 'smtp:' || url?.protocol === 'smtps:') return mailOf(url, url.protocol, addressed);
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (isPlain && !/[{}]|%7b|%7d/i.test(url.host)) return { channel: 'webhook', url };
  throw invalid(
    'it is not the address of a webhook or a mail server',
    'must begin with https://, http://, smtps:// or smtp:// and name a host',
    'E.g. https://hooks.example.com/x; {{NAME}} in the path stands for a secret of the project.',
  );
}

/** The entries of a grant that the target needs. */
export function askOf(target: Target, { network }: Pick<Addressed, 'network'>): Capabilities {
  const host = target.channel === 'mail' ? `${target.host}:${target.port}` : target.url.host;
  return { network: [host, ...network] };
}

const MAIL_EXAMPLE =
  'E.g. smtps://mail.example.com/?from=nebula@example.com&to=ops@example.com&user={{smtp-user}}&password={{smtp-password}}';

function mailOf(url: URL, protocol: keyof typeof DEFAULT_PORTS, { secret }: Addressed): Mail {
  const { searchParams: given, hostname, port } = url;
  const refuse = (what: string, detail: string): NebulaError => invalid(what, detail, MAIL_EXAMPLE);
  if (url.username !== '' || url.password !== '') {
    throw refuse('user and password are in it', 'must name secrets: user={{NAME}}&password={{NAME}}');
  }
  if (!HOST.test(hostname)) throw refuse('its host is not a name', 'must name the host of a mail server');
  if (!/^\/?$/.test(url.pathname) || url.hash !== '') throw refuse('it has a path', 'must have no path');
  for (const name of given.keys()) {
    if (!['from', 'to', 'user', 'password', 'tls'].includes(name)) {
      throw refuse('it has an unknown parameter', 'may have from, to, user, password and tls');
    }
    if (name !== 'to' && given.getAll(name).length > 1) throw refuse(`'${name}' is given twice`, 'must be given once');
  }
  if (secret !== null) throw refuse('a mail is not signed', 'goes without secret: name user and password in the url');
  const to = given.getAll('to').map((one) => addressOf('to', one, refuse));
  if (to.length === 0 || to.length > NOTIFICATION_LIMITS.maxRecipients) {
    throw refuse(
      "'to' is missing or given too often",
      `must have 1 to ${NOTIFICATION_LIMITS.maxRecipients} recipients: to=…&to=…`,
    );
  }
  const tls = given.get('tls');
  if (tls !== null && (tls !== 'none' || protocol === 'smtps:')) {
    throw refuse("'tls' cannot be that", 'may be none, and only with smtp://');
  }
  const login = loginOf(given, refuse);
  if (login !== null && tls === 'none') throw refuse('a password needs TLS', 'must not have tls=none beside a user');
  return {
    channel: 'mail',
    host: hostname.toLowerCase(),
    port: port === '' ? DEFAULT_PORTS[protocol] : Number(port),
    tls: protocol === 'smtps:' ? 'wrapped' : tls === 'none' ? 'none' : 'starttls',
    from: addressOf('from', given.get('from') ?? '', refuse),
    to,
    login,
  };
}

type Refuse = (what: string, detail: string) => NebulaError;

function loginOf(given: URLSearchParams, refuse: Refuse): Mail['login'] {
  const [user, password] = ['user', 'password'].map((name) => {
    const text = given.get(name);
    if (text === null) return undefined;
    const [, secret] = SECRET_NAME.exec(text) ?? [];
    if (secret === undefined) throw refuse(`'${name}' is not the name of a secret`, `must be ${name}={{NAME}}`);
    return secret;
  });
  if (user === undefined && password === undefined) return null;
  if (user !== undefined && password !== undefined) return { user, password };
  throw refuse("'user' and 'password' go together", 'must have both of user and password, or none');
}

/** `ops@example.com`, or `Nebula <nebula@example.com>`. */
function addressOf(member: string, text: string, refuse: Refuse): MailAddress {
  const [, name = '', bracketed] = /^([^<>]*) <([^<>]*)>$/.exec(text) ?? [];
  const address = bracketed ?? text;
  if (ADDRESS.test(address) && (name === '' || DISPLAY_NAME.test(name))) return { name, address };
  throw refuse(`'${member}' is not a mail address`, `must have ${member}=ops@example.com; + is written as %2B`);
}

function invalid(what: string, detail: string, hint: string): NebulaError {
  return new NebulaError('BODY_INVALID', `url: ${what}`, {
    hint,
    details: { errors: [{ pointer: '/url', detail }] },
  });
}
