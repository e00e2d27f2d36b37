/** Mail notifications, through a real mail server on loopback. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Booted, boot } from './support/boot.ts';
import { addProject, addUser, ask, signIn } from './support/users.ts';

interface Received {
  readonly mail: string;
  readonly to: readonly string[];
  readonly user: string | undefined;
  readonly isSecure: boolean;
}

const trusted = getCACertificates('default');
let certificate: { readonly key: string; readonly cert: string };
let received: Received[] = [];
const servers = new Set<SMTPServer>();
const open = new Set<Booted>();

beforeAll(() => {
  const folder = mkdtempSync(path.join(tmpdir(), 'nebula-mail-'));
  const [key, cert] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  certificate = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(folder, { recursive: true });
});
afterEach(async () => {
  setDefaultCACertificates(trusted);
  for (const booted of open) await booted.close();
  open.clear();
  for (const server of servers) await new Promise<void>((resolve) => server.close(() => resolve()));
  servers.clear();
  received = [];
});
afterAll(() => setDefaultCACertificates(trusted));

async function mailServer(options: SMTPServerOptions = {}): Promise<number> {
  const server = new SMTPServer({
    ...certificate,
    authOptional: true,
    onAuth: ({ username, password }, _session, done) =>
      password === 'the-password' ? done(null, { user: username }) : done(new Error('no such login')),
    onRcptTo: ({ address }, _session, done) =>
      address.startsWith('nobody@') ? done(new Error('no such recipient')) : done(),
    onData(stream, session, done) {
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.on('end', () => {
        received.push({
          mail: Buffer.concat(pieces).toString(),
          to: session.envelope.rcptTo.map(({ address }) => address),
          user: session.user,
          isSecure: session.secure,
        });
        done();
      });
    },
    ...options,
  });
  servers.add(server);
  // A client that does not trust the certificate breaks off.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.server.address() as AddressInfo).port;
}

async function booting(): Promise<Booted> {
  const booted = await boot();
  open.add(booted);
  for (const [name, value] of Object.entries({ 'smtp-user': 'the-user', 'smtp-password': 'the-password' })) {
    await booted.client.call('putSecret', { params: { name }, body: { value } });
  }
  return booted;
}

const PEOPLE = 'from=Nebula%20%3Cnebula@example.com%3E&to=ops@example.com';
const LOGIN = 'user={{smtp-user}}&password={{smtp-password}}';

const put = ({ client }: Booted, url: string, more: object = {}) =>
  client.call('putNotification', { params: { notificationId: 'ops' }, body: { url, ...more } });
const test = ({ client }: Booted) => client.call('testNotification', { params: { notificationId: 'ops' } });

describe('mail', () => {
  it('[SRV-870] a failed run is told by mail: plain text, the words of the webhook, the id of the message', async () => {
    const booted = await booting();
    const { client } = booted;
    const port = await mailServer();
    await put(booted, `smtp://localhost:${port}/?${PEOPLE}&to=second@example.com&tls=none`, { gather: '1s' });
    const nodes = { charge: { action: 'core.fail@1', with: { code: 'DECLINED', message: 'no money' } } };
    await client.call('registerWorkflow', { body: { definition: { id: 'order', nodes } } });
    const { executionId } = await client.call('startExecution', { body: { workflowId: 'order' } });
    await expect.poll(() => received.length, { timeout: 20_000 }).toBe(1);
    const [{ mail, to }] = received as [Received];
    expect(to).toEqual(['ops@example.com', 'second@example.com']);
    const blank = mail.indexOf('\r\n\r\n');
    const [head, body] = [mail.slice(0, blank), mail.slice(blank)];
    expect(head).toContain('From: Nebula <nebula@example.com>');
    expect(head).toContain('Subject: 1 run failed in project default');
    expect(head).toContain('Auto-Submitted: auto-generated');
    expect(head).toMatch(/Message-ID: <ntf_[0-9a-f]+@example\.com>/);
    expect(head).toMatch(/Content-Type: text\/plain/);
    const text = body.replaceAll('=\r\n', '').replaceAll('=3D', '=');
    expect(text).toContain(`order ${executionId}, node charge: DECLINED no money`);
    expect(text).toContain(`nebula executions explain ${executionId} 'charge'`);
    await expect.poll(async () => (await client.call('listNotifications')).items[0]?.lastSentAt).not.toBe(null);
  });

  it('[SRV-871] the login is sent after TLS with a trusted certificate only, and is in no record or answer', async () => {
    const booted = await booting();
    const { client, keeping } = booted;
    const starttls = await mailServer();
    const wrapped = await mailServer({ secure: true });
    const urls = [
      `smtp://localhost:${starttls}/?${PEOPLE}&${LOGIN}`,
      `smtps://localhost:${wrapped}/?${PEOPLE}&${LOGIN}`,
    ];
    for (const url of urls) {
      await put(booted, url);
      const untrusted = await test(booted);
      expect(untrusted, url).toMatchObject({ delivered: false });
    }
    expect(received).toEqual([]);
    setDefaultCACertificates([...trusted, certificate.cert]);
    for (const url of urls) {
      await put(booted, url);
      expect(await test(booted), url).toEqual({ delivered: true, error: null });
    }
    expect(received.map(({ user, isSecure }) => [user, isSecure])).toEqual([
      ['the-user', true],
      ['the-user', true],
    ]);
    const stored = JSON.stringify(await keeping.records.list('notification', { limit: 10 }));
    expect(stored + JSON.stringify(await client.call('listNotifications'))).not.toMatch(/the-user|the-password/);
    // A server that offers no TLS gets neither the login nor the mail.
    const logins: string[] = [];
    const plain = await mailServer({
      hideSTARTTLS: true,
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth({ username = '' }, _session, done) {
        logins.push(username);
        done(null, { user: username });
      },
    });
    await put(booted, `smtp://localhost:${plain}/?${PEOPLE}&${LOGIN}`);
    expect(await test(booted)).toMatchObject({ delivered: false });
    expect([logins, received.length]).toEqual([[], 2]);
    await put(booted, urls[0] as string);
    await client.call('putSecret', { params: { name: 'smtp-password' }, body: { value: 'a-wrong-one' } });
    expect(await test(booted)).toEqual({
      delivered: false,
      error: 'NOTIFICATION_REFUSED: The mail server answered with 535.',
    });
  });

  it('[SRV-872] the mail server is within the ceiling of the project, when it is set and when it is called', async () => {
    const booted = await boot({ users: true });
    open.add(booted);
    const port = await mailServer();
    await addProject(booted, 'shop');
    await addUser(booted, 'olga', { roles: { shop: 'owner' } });
    const headers = await signIn(booted, 'olga');
    const call = (line: string, body?: object) => ask(booted, line, { headers, ...(body && { body }) });
    const to = (host: string) => ({ url: `smtp://${host}:${port}/?${PEOPLE}&tls=none`, project: 'shop' });
    const set = async (host: string) => (await call('PUT /api/v1/notifications/ops', to(host))).json.code;
    expect(await set('localhost')).toBe('OVER_CEILING');
    await call('PUT /api/v1/projects/shop', { ceiling: { network: ['*'] } });
    for (const host of ['localhost', '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]']) {
      expect(await set(host), host).toBe('OVER_CEILING');
    }
    // Another way to write 127.0.0.1 is refused when the connection is made, if not before.
    for (const host of ['127.1', '2130706433', '0x7f000001']) {
      if ((await set(host)) === 'OVER_CEILING') continue;
      const tested = (await call('POST /api/v1/notifications/ops/test')).json;
      expect(tested, host).toMatchObject({ delivered: false, error: expect.stringContaining('CAPABILITY_DENIED') });
    }
    await call('PUT /api/v1/projects/shop', { ceiling: { network: [`localhost:${port}`] } });
    expect(await set('localhost')).toBeUndefined();
    expect((await call('POST /api/v1/notifications/ops/test')).json).toEqual({ delivered: true, error: null });
    await call('PUT /api/v1/projects/shop', { ceiling: {} });
    expect((await call('POST /api/v1/notifications/ops/test')).json.error).toContain('CAPABILITY_DENIED');
    expect(received).toHaveLength(1);
  });

  it('[SRV-873] addresses that could end a header, passwords in the URL and unknown parameters are refused', async () => {
    const booted = await booting();
    const bad = [
      '?to=ops@example.com',
      '?from=a@example.com',
      '?from=a@example.com%0d%0aBcc:%20x@example.com&to=ops@example.com',
      '?from=a@example.com&to=ops@example.com%0aBcc:x@example.com',
      '?from=a@example.com&to=ops@example.com\r\nBcc: x@example.com',
      '?from=A%0d%0aBcc:x%20%3Ca@example.com%3E&to=ops@example.com',
      '?from=a@example.com&to=ops@example.com,x@example.com',
      '?from=a+b@example.com&to=ops@example.com',
      `?${PEOPLE}&user=me&password={{smtp-password}}`,
      `?${PEOPLE}&user={{smtp-user}}&password=plain`,
      `?${PEOPLE}&user={{smtp-user}}`,
      `?${PEOPLE}&${LOGIN}&tls=none`,
      `?${PEOPLE}&tls=maybe`,
      `?${PEOPLE}&bcc=x@example.com`,
      `inbox?${PEOPLE}`,
    ];
    for (const rest of bad) {
      const refused = { code: 'BODY_INVALID', message: expect.stringContaining('url: ') };
      await expect(put(booted, `smtp://localhost:25/${rest}`), rest).rejects.toMatchObject(refused);
    }
    for (const base of ['smtp://me:pw@localhost/', 'smtp://{{host}}/', 'smtp:///', 'command:rm']) {
      await expect(put(booted, `${base}?${PEOPLE}`), base).rejects.toMatchObject({ code: 'BODY_INVALID' });
    }
    const wrapped = put(booted, `smtps://localhost/?${PEOPLE}&tls=none`);
    await expect(wrapped).rejects.toMatchObject({ code: 'BODY_INVALID' });
    const signed = put(booted, `smtp://localhost/?${PEOPLE}`, { secret: 'smtp-user' });
    await expect(signed).rejects.toMatchObject({ code: 'BODY_INVALID' });
    await expect(put(booted, `smtp://localhost/?from=a%2Bb@example.com&to=c@d.example`)).resolves.toBeDefined();
  });

  it('[SRV-874] recipients that the server refuses are reported, and the others have their mail', async () => {
    const booted = await booting();
    const port = await mailServer();
    await put(booted, `smtp://localhost:${port}/?${PEOPLE}&to=nobody@example.com&tls=none`);
    expect(await test(booted)).toEqual({ delivered: true, error: 'The mail server refused 1 of 2 recipients.' });
    expect(received[0]?.to).toEqual(['ops@example.com']);
    await put(booted, `smtp://localhost:${port}/?from=a@example.com&to=nobody@example.com&tls=none`);
    expect(await test(booted)).toMatchObject({ delivered: false, error: expect.stringContaining('550') });
  });
});
