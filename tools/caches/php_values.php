<?php

/**
 * Writes values with PHP's serializers, PHP's sessions and Laravel's cache and queue, and reads them back.
 *
 *     php php_values.php versions
 *     php php_values.php make|check HOST PORT DATABASE COUNT SEED SIZE CHECKS
 *
 * It needs the extension redis; igbinary, msgpack and Laravel's components are used if they are installed. It prints
 * JSON on lines, as tools/caches_generate.rb does.
 */

error_reporting(E_ALL & ~E_DEPRECATED);

require __DIR__ . '/php_samples.php';

/** Prints a value as JSON on a line. */
function say(array $what): void
{
    // Not `echo`, after which PHP starts no session.
    $flags = JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE;
    fwrite(STDOUT, json_encode($what, $flags) . "\n");
}

function label(string $key, string $codec, string $framework, array $more = []): void
{
    say($more + ['key' => $key, 'kind' => 'string', 'framework' => $framework, 'envelope' => null, 'steps' => [],
                 'codec' => $codec, 'names' => []]);
}

/** The parts, each with how to write and read a value of its own. */
final class Parts
{
    public Redis $redis;

    public function __construct(private string $host, private int $port, private int $database, private Values $values)
    {
        $this->redis = new Redis();
        $this->redis->connect($host, $port);
        $this->redis->select($database);
    }

    public static function versions(): array
    {
        $found = ['php' => PHP_VERSION];
        foreach (['redis' => 'phpredis', 'igbinary' => 'php-igbinary'] as $extension => $name) {
            if (extension_loaded($extension)) {
                $found[$name] = phpversion($extension);
            }
        }
        if (self::hasLaravel()) {
            $found['illuminate-cache'] = self::debian('php-illuminate-cache');
        }
        return $found;
    }

    /** Loads Laravel's components, once. Returns whether they are there. */
    public static function hasLaravel(): bool
    {
        static $there = null;
        if ($there === null) {
            foreach (['Cache', 'Redis', 'Queue', 'Session', 'Container'] as $component) {
                @include_once "Illuminate/$component/autoload.php";
            }
            $there = class_exists('Illuminate\Cache\RedisStore') && class_exists('Illuminate\Redis\RedisManager');
        }
        return $there;
    }

    private static function debian(string $package): string
    {
        $found = shell_exec("dpkg-query --show --showformat='\${Version}' $package 2>/dev/null");
        return $found ? preg_replace('/[+-].*/', '', $found) : 'unknown';
    }

    /** Returns the parts that can be had, each with its share. */
    public function all(): array
    {
        $serializers = ['php' => Redis::SERIALIZER_PHP, 'json' => Redis::SERIALIZER_JSON];
        foreach (['IGBINARY', 'MSGPACK'] as $name) {
            if (defined("Redis::SERIALIZER_$name")) {
                $serializers[strtolower($name)] = constant("Redis::SERIALIZER_$name");
            } else {
                fwrite(STDERR, "skipped: phpredis without $name\n");
            }
        }
        $parts = [];
        foreach ($serializers as $name => $serializer) {
            $parts["phpredis $name"] = [$name === 'php' ? 0.3 : 0.07, 'phpredis', [$name, $serializer]];
        }
        $parts['session php'] = [0.15, 'session', ['php', 'PHPREDIS_SESSION:']];
        $parts['session php_serialize'] = [0.05, 'session', ['php_serialize', 'sess:']];
        if (self::hasLaravel()) {
            $parts['laravel'] = [0.2, 'laravel', []];
            $parts['laravel session'] = [0.1, 'laravelSession', []];
            $parts['laravel queue'] = [0.06, 'laravelQueue', []];
        } else {
            fwrite(STDERR, "skipped: Laravel's cache is not installed\n");
        }
        return $parts;
    }

    public function phpredis(string $what, int $index, string $name, int $serializer): void
    {
        $this->redis->setOption(Redis::OPT_SERIALIZER, $serializer);
        [$value, $names] = $this->values->value($name === 'php' || $name === 'igbinary');
        $key = ($name === 'php' ? 'product' : $name) . ":$index";
        if ($what === 'check') {
            say(['key' => $key, 'expected' => serialize($value), 'found' => serialize($this->redis->get($key))]);
            return;
        }
        $ttl = $this->values->ttl();
        $this->redis->set($key, $value, $ttl ? ['ex' => $ttl] : []);
        $codec = ['php' => 'php-serialize'][$name] ?? $name;
        label($key, $codec, 'phpredis ' . phpversion('redis'), ['names' => $names]);
    }

    public function session(string $what, int $index, string $handler, string $prefix): void
    {
        static $configured = null;
        if ($configured !== $handler) {
            ini_set('session.save_handler', 'redis');
            ini_set('session.save_path', "tcp://$this->host:$this->port?database=$this->database&prefix=$prefix");
            ini_set('session.serialize_handler', $handler);
            ini_set('session.use_cookies', '0');
            ini_set('session.use_strict_mode', '0');
            ini_set('session.cache_limiter', '');
            ini_set('session.gc_maxlifetime', (string) (30 * 86400));
            $configured = $handler;
        }
        $id = sprintf('%08x%08x%010d', mt_rand(), mt_rand(), $index);
        [$value] = $this->values->value(false);
        $data = ['user_id' => mt_rand(1, 1000000), 'csrf' => md5((string) mt_rand()), 'cart' => $value];
        session_id($id);
        session_start();
        if ($what === 'check') {
            say(['key' => $prefix . $id, 'expected' => serialize($data), 'found' => serialize($_SESSION)]);
            session_abort();
            return;
        }
        $_SESSION = $data;
        session_write_close();
        $codec = $handler === 'php' ? 'php-session' : 'php-serialize';
        label($prefix . $id, $codec, 'php ' . PHP_VERSION, ['content' => 'session']);
    }

    private function manager(): object
    {
        static $manager = null;
        if (!$manager) {
            $connection = ['host' => $this->host, 'port' => $this->port, 'database' => $this->database];
            $settings = ['options' => [], 'default' => $connection];
            $manager = new Illuminate\Redis\RedisManager(null, 'phpredis', $settings);
        }
        return $manager;
    }

    /** Laravel's cache: `serialize()`, and numbers in digits. */
    public function laravel(string $what, int $index): void
    {
        static $cache = null;
        $cache ??= new Illuminate\Cache\Repository(new Illuminate\Cache\RedisStore($this->manager(), 'laravel_cache'));
        $number = mt_rand(0, 9) === 0;
        [$value, $names] = $number ? [mt_rand(0, 1000000), []] : $this->values->value();
        $key = $number ? "hits.$index" : "posts.$index";
        if ($what === 'check') {
            $found = $cache->get($key);
            say(['key' => $key, 'expected' => serialize($value), 'found' => serialize($number ? (int) $found : $found)]);
            return;
        }
        $cache->put($key, $value, $this->values->ttl());
        $codec = $number ? 'integer' : 'php-serialize';
        label("laravel_cache:$key", $codec, self::name('illuminate-cache'), ['names' => $names]);
    }

    /** Laravel's sessions, in its cache: text that is serialized again. */
    public function laravelSession(string $what, int $index): void
    {
        static $handler = null;
        if (!$handler) {
            $cache = new Illuminate\Cache\Repository(new Illuminate\Cache\RedisStore($this->manager(), 'laravel_session'));
            $handler = new Illuminate\Session\CacheBasedSessionHandler($cache, 60 * 24 * 14);
        }
        $id = substr(md5((string) mt_rand()) . md5((string) $index), 0, 40);
        $store = new Illuminate\Session\Store('laravel_session', $handler, $id);
        [$value] = $this->values->value(false);
        $token = md5((string) mt_rand());
        $store->start();
        if ($what === 'check') {
            say(['key' => $id, 'expected' => serialize([$token, $value]),
                 'found' => serialize([$store->get('csrf'), $store->get('cart')])]);
            return;
        }
        // Laravel draws a token of its own if there is none.
        $store->put(['_token' => $token, 'csrf' => $token, 'cart' => $value]);
        $store->save();
        label("laravel_session:$id", 'php-serialize', self::name('illuminate-session'),
              ['content' => 'session', 'note' => 'serialized text inside serialized text']);
    }

    /** Laravel's queue: JSON, which holds a serialized job. All jobs are in one list, labelled by `finish`. */
    public function laravelQueue(string $what, int $index): void
    {
        static $queue = null;
        if (!$queue) {
            $queue = new Illuminate\Queue\RedisQueue($this->manager(), 'default');
            $queue->setContainer(new Illuminate\Container\Container());
        }
        $job = new SendMail(mt_rand(1, 1000000), $this->values->prose($this->values->length()));
        if ($what === 'check') {
            $found = json_decode($this->redis->rawCommand('LINDEX', 'queues:default', $index), true);
            say(['key' => "queues:default $index", 'expected' => serialize($job), 'found' => $found['data']['command']]);
            return;
        }
        $queue->push($job);
    }

    public function finish(array $parts): void
    {
        if (isset($parts['laravel queue'])) {
            label('queues:default', 'json', self::name('illuminate-queue'),
                  ['kind' => 'list', 'note' => 'a serialized job in data.command']);
            // A signal for each job, for workers that wait.
            label('queues:default:notify', 'integer', self::name('illuminate-queue'), ['kind' => 'list']);
        }
    }

    private static function name(string $component): string
    {
        static $versions = [];
        return "$component " . ($versions[$component] ??= self::debian("php-$component"));
    }
}

if (!extension_loaded('redis')) {
    say(['missing' => 'PHP has no extension redis (Debian: php-redis)']);
    exit;
}
say(['versions' => Parts::versions()]);
[, $what] = $argv;
if ($what !== 'versions') {
    [, , $host, $port, $database, $count, $seed, $size, $checks] = $argv;
    $values = new Values((int) $seed, (int) $size);
    $parts = new Parts($host, (int) $port, (int) $database, $values);
    $all = $parts->all();
    foreach ($all as $name => [$share, $method, $arguments]) {
        $number = max(2, (int) ($count * $share));
        $step = $what === 'check' ? max(1, intdiv($number, (int) $checks)) : 1;
        for ($index = 0; $index < $number; $index += $step) {
            $values->seed("$name/$index");
            $parts->$method($what, $index, ...$arguments);
        }
    }
    if ($what === 'make') {
        $parts->finish($all);
    }
}
